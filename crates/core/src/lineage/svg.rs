//! A drawing of lineage as SVG.
//!
//! *Invariant:* text from data is escaped and shortened; the picture needs nothing from elsewhere.

use super::layout::{HEIGHT, WIDTH, draw};
use super::{Graph, Kind, Node};

const MARGIN: f64 = 24.0;
const HEADING: f64 = 40.0;
const LEGEND_ROW: f64 = 22.0;
const LEGEND_COLUMN: f64 = 170.0;
/// How many characters of a name fit into a box.
const FITTING: usize = 22;

/// Relationships, each with the colour and the dashes of its line.
const LINES: [(&str, &str, &str); 7] = [
    ("derived_from", "#1d4ed8", ""),
    ("prepared_from", "#047857", ""),
    ("generated_by", "#7c3aed", "6 4"),
    ("promoted_from", "#b45309", ""),
    ("synced_from", "#475569", "2 4"),
    ("looked_up_in", "#be185d", "10 4"),
    ("evaluated_by", "#0e7490", "6 4"),
];
const OTHER: (&str, &str) = ("#334155", "");

/// Draws a graph; `focus` are the nodes that it is about.
pub fn to_svg(graph: &Graph, title: &str, focus: &[usize]) -> String {
    let drawing = draw(graph);
    let used: Vec<&str> = relationships(graph);
    let columns = ((drawing.size.0 / LEGEND_COLUMN).floor() as usize).max(2);
    let legend = used.len().div_ceil(columns) as f64 * LEGEND_ROW;
    let width = drawing.size.0.max(2.0 * LEGEND_COLUMN) + 2.0 * MARGIN;
    let height = drawing.size.1 + HEADING + legend + 3.0 * MARGIN;
    let mut out = String::new();
    let counts = format!("{} nodes, {} edges", graph.nodes().len(), graph.edges().len());
    line(
        &mut out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-labelledby=\"title desc\" font-family=\"system-ui, 'DejaVu Sans', Arial, sans-serif\">"
        ),
    );
    line(&mut out, format_args!("<title id=\"title\">{}</title>", escaped(title)));
    line(&mut out, format_args!("<desc id=\"desc\">{}</desc>", escaped(&description(graph, &counts))));
    line(&mut out, format_args!("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"));
    arrows(&mut out, &used);
    line(
        &mut out,
        format_args!(
            "<text x=\"{MARGIN}\" y=\"{:.0}\" font-size=\"16\" font-weight=\"600\" fill=\"#0f172a\">{}</text>",
            MARGIN + 12.0,
            escaped(&shortened(title, 90))
        ),
    );
    line(&mut out, format_args!("<g transform=\"translate({MARGIN} {:.0})\">", MARGIN + HEADING));
    for (edge, points) in graph.edges().iter().zip(&drawing.lines) {
        let among = graph.edges().iter().filter(|other| (other.parent, other.child) == (edge.parent, edge.child));
        let beside = among.take_while(|other| !std::ptr::eq(*other, edge)).count() as f64 * 8.0;
        let (colour, dashes) = style(&edge.relationship);
        let dashes = if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
        let at = LINES.iter().position(|(name, ..)| *name == edge.relationship).unwrap_or(LINES.len());
        line(
            &mut out,
            format_args!(
                "<path d=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"{dashes} marker-end=\"url(#arrow{at})\"><title>{} {} {}</title></path>",
                curve(points, beside),
                escaped(&graph.nodes()[edge.child].cited()),
                escaped(&edge.relationship),
                escaped(&graph.nodes()[edge.parent].cited())
            ),
        );
    }
    for (index, (node, (x, y))) in graph.nodes().iter().zip(&drawing.boxes).enumerate() {
        self::node(&mut out, node, (*x, *y), focus.contains(&index));
    }
    line(&mut out, format_args!("</g>"));
    legends(&mut out, &used, columns, drawing.size.1 + HEADING + 2.0 * MARGIN + 8.0);
    out.push_str("</svg>\n");
    out
}

fn relationships(graph: &Graph) -> Vec<&str> {
    let mut used: Vec<&str> = graph.edges().iter().map(|edge| edge.relationship.as_str()).collect();
    used.sort_unstable();
    used.dedup();
    used
}

fn description(graph: &Graph, counts: &str) -> String {
    let sentence = |edge: &super::Edge| {
        format!("{} {} {}", graph.nodes()[edge.child].cited(), edge.relationship, graph.nodes()[edge.parent].cited())
    };
    let said: Vec<String> = graph.edges().iter().map(sentence).collect();
    format!("What comes from what, from left to right: {counts}. {}", said.join("; "))
}

fn style(relationship: &str) -> (&'static str, &'static str) {
    let known = LINES.iter().find(|(name, ..)| *name == relationship);
    known.map_or(OTHER, |(_, colour, dashes)| (colour, dashes))
}

fn arrows(out: &mut String, used: &[&str]) {
    line(out, format_args!("<defs>"));
    for relationship in used {
        let at = LINES.iter().position(|(name, ..)| name == relationship).unwrap_or(LINES.len());
        line(
            out,
            format_args!(
                "<marker id=\"arrow{at}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"{}\"/></marker>",
                style(relationship).0
            ),
        );
    }
    line(out, format_args!("</defs>"));
}

/// A smooth line through points; between two layers it leaves and arrives level.
fn curve(points: &[(f64, f64)], beside: f64) -> String {
    let mut path = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let y = y + beside;
        match index.checked_sub(1).and_then(|before| points.get(before)) {
            None => path.push_str(&format!("M{x:.1} {y:.1}")),
            Some((x0, y0)) => {
                let (middle, y0) = ((x0 + x) / 2.0, y0 + beside);
                path.push_str(&format!(" C{middle:.1} {y0:.1} {middle:.1} {y:.1} {x:.1} {y:.1}"));
            }
        }
    }
    path
}

fn node(out: &mut String, node: &Node, (x, y): (f64, f64), focus: bool) {
    let (fill, stroke, corner) = match node.kind {
        Kind::Dataset => ("#eff6ff", "#1d4ed8", 8),
        Kind::Run => ("#f0fdfa", "#0e7490", 22),
        Kind::Source => ("#f8fafc", "#475569", 0),
    };
    let weight = if focus { "3" } else { "1.2" };
    let name = match node.kind {
        Kind::Dataset => node.cited(),
        _ => node.name.clone(),
    };
    let below = node.title.as_deref().filter(|title| *title != node.name).map_or_else(
        || node.kind.name().to_owned(),
        |title| if node.kind == Kind::Dataset { title.to_owned() } else { format!("{} · {title}", node.kind.name()) },
    );
    let full = node.digest.as_ref().map_or_else(|| node.cited(), |digest| format!("{} {digest}", node.cited()));
    line(out, format_args!("<g class=\"{}\"><title>{}</title>", node.kind.name(), escaped(&full)));
    line(
        out,
        format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{WIDTH:.0}\" height=\"{HEIGHT:.0}\" rx=\"{corner}\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"{weight}\"/>"
        ),
    );
    let middle = x + WIDTH / 2.0;
    line(
        out,
        format_args!(
            "<text x=\"{middle:.1}\" y=\"{:.1}\" font-size=\"12.5\" font-weight=\"600\" text-anchor=\"middle\" fill=\"#0f172a\">{}</text>",
            y + 19.0,
            escaped(&shortened_in_the_middle(&name, FITTING))
        ),
    );
    line(
        out,
        format_args!(
            "<text x=\"{middle:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"middle\" fill=\"#475569\">{}</text></g>",
            y + 35.0,
            escaped(&shortened(&below, FITTING + 7))
        ),
    );
}

fn legends(out: &mut String, used: &[&str], columns: usize, top: f64) {
    for (index, relationship) in used.iter().enumerate() {
        let x = MARGIN + (index % columns) as f64 * LEGEND_COLUMN;
        let y = top + (index / columns) as f64 * LEGEND_ROW;
        let (colour, dashes) = style(relationship);
        line(
            out,
            format_args!(
                "<path d=\"M{x:.0} {y:.0} h34\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"/><text x=\"{:.0}\" y=\"{:.0}\" font-size=\"12\" fill=\"#334155\">{}</text>",
                x + 42.0,
                y + 4.0,
                escaped(relationship)
            ),
        );
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.push_str(&text.to_string());
    out.push('\n');
}

fn shortened(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    text.chars().take(length.saturating_sub(1)).chain(['…']).collect()
}

/// The end of a name tells more than its middle: versions stand there.
fn shortened_in_the_middle(text: &str, length: usize) -> String {
    let count = text.chars().count();
    if count <= length {
        return text.to_owned();
    }
    let (head, tail) = (length / 2, length - length / 2 - 1);
    text.chars().take(head).chain(['…']).chain(text.chars().skip(count - tail)).collect()
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            control if control.is_control() => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}
