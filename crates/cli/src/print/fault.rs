//! A fault with its place, its line and a caret, for people.

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use heldset_core::fault::Fault;

/// The fault as text of several lines.
pub(crate) fn text(file: &str, fault: &Fault, styled: bool) -> String {
    let level = if fault.code.is_hint() { Level::INFO.with_name("hint") } else { Level::ERROR };
    let title = match &fault.excerpt {
        Some(_) => fault.code.title().to_owned(),
        None => format!("{}: {}", fault.code.title(), fault.message),
    };
    let mut group = level.primary_title(title).id(fault.code.name()).element(origin(file, fault));
    let line = fault.place.map_or(1, |place| usize::try_from(place.line).unwrap_or(usize::MAX));
    if let Some(excerpt) = &fault.excerpt {
        let marked = excerpt.start..excerpt.end.max(excerpt.start);
        let snippet = Snippet::source(excerpt.text.as_str()).line_start(line);
        group = group.element(snippet.annotation(AnnotationKind::Primary.span(marked).label(fault.message.as_str())));
    }
    if let Some(help) = &fault.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if styled { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group])
}

fn origin<'o>(file: &'o str, fault: &Fault) -> Origin<'o> {
    let origin = Origin::path(file);
    match fault.place {
        None => origin,
        Some(place) => origin.line(fit(place.line)).char_column(fit(place.column)),
    }
}

fn fit(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
