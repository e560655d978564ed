//! Lineage: walking it, and every way to show it.

use heldset_core::lineage::{Direction, Graph, HEIGHT, Kind, Node, WIDTH, draw, events, to_svg, to_text, to_value};
use heldset_core::value::Value;

/// Prepared twice, evaluated, promoted; one source.
fn small() -> Graph {
    let mut graph = Graph::default();
    let digest = |name: &str| Some(format!("sha256:{name}"));
    let mut raw = Node::version("raw", 1, digest("raw"));
    raw.title = Some("Raw <tickets> & more".to_owned());
    raw.fields = vec![("text".to_owned(), "string".to_owned())];
    let raw = graph.node(raw);
    let people = graph.node(Node::version("people", 2, digest("people")));
    let clean = graph.node(Node::version("clean", 1, digest("clean")));
    let mut run = Node::run("r00001-abc");
    run.title = Some("nightly".to_owned());
    let run = graph.node(run);
    let rollouts = graph.node(Node::version("rollouts", 1, digest("rollouts")));
    let source =
        Node { kind: Kind::Source, name: "Jira".into(), title: None, version: None, digest: None, fields: vec![] };
    let source = graph.node(source);
    graph.edge(raw, source, "synced_from", "2026-05-01T00:00:00Z");
    graph.edge(clean, raw, "prepared_from", "2026-05-02T00:00:00Z");
    graph.edge(clean, people, "looked_up_in", "2026-05-02T00:00:00Z");
    graph.edge(run, clean, "evaluated_by", "2026-05-03T00:00:00Z");
    graph.edge(rollouts, run, "promoted_from", "2026-05-04T00:00:00Z");
    graph.edge(rollouts, clean, "promoted_from", "2026-05-04T00:00:00Z");
    graph
}

#[test]
fn a_tree_shows_both_ways() {
    let graph = small();
    let start = graph.find(Kind::Dataset, "clean", Some(1)).unwrap();
    insta::assert_snapshot!(to_text(&graph, "clean@1", &[start], None), @r"
    clean@1
    upstream
    ├─ people@2 [looked_up_in]
    └─ raw@1 [prepared_from] (Raw <tickets> & more)
       └─ source:Jira [synced_from]
    downstream
    ├─ rollouts@1 [promoted_from]
    └─ run:r00001-abc [evaluated_by] (nightly)
    ");
    assert!(to_text(&Graph::default(), "none", &[], None).contains("nothing comes from it"));
}

#[test]
fn entries_have_what_programs_need() {
    let graph = small();
    let start = graph.find(Kind::Dataset, "clean", Some(1)).unwrap();
    let (up, down) = to_value(&graph, &[start], None);
    let text = |value: &Value<'_>| String::from_utf8(heldset_core::canonical::bytes(value)).unwrap();
    let first = r#"[{"depth":1,"digest":"sha256:people","kind":"dataset","name":"people","relationship_type":"looked_up_in","slug":"people","version":2,"via":"clean@1"},"#;
    assert!(text(&up).starts_with(first), "{}", text(&up));
    assert!(text(&up).contains(r#""kind":"source","name":"Jira","relationship_type":"synced_from","slug":null"#));
    assert!(
        text(&down).contains(r#""id":"r00001-abc","kind":"run","name":"nightly","relationship_type":"evaluated_by""#)
    );
    let (near, _) = to_value(&graph, &[start], Some(1));
    assert_eq!(near.as_array().unwrap().len(), 2);
}

#[test]
fn a_ring_ends() {
    let mut graph = Graph::default();
    let a = graph.node(Node::version("aaa", 1, None));
    let b = graph.node(Node::version("bbb", 1, None));
    graph.edge(a, b, "derived_from", "");
    graph.edge(b, a, "derived_from", "");
    graph.edge(a, a, "derived_from", "");
    assert_eq!(graph.walk(&[a], Direction::Up, None).len(), 1);
    assert!(to_svg(&graph, "ring", &[a]).contains("</svg>"));
}

#[test]
fn the_picture_says_what_it_shows_and_escapes_it() {
    let graph = small();
    let svg = to_svg(&graph, "Lineage of clean", &[2]);
    assert!(svg.contains("<title id=\"title\">Lineage of clean</title>"));
    assert!(svg.contains("6 nodes, 6 edges"));
    assert!(svg.contains("Raw &lt;tickets&gt; &amp; more") && !svg.contains("<tickets>"));
    assert!(svg.contains(">prepared_from</text>") && !svg.contains(">derived_from</text>"));
    insta::assert_snapshot!(svg);
}

/// Sixty nodes in layers of different sizes, with long edges.
fn large() -> Graph {
    let mut graph = Graph::default();
    let mut layers: Vec<Vec<usize>> = Vec::new();
    let mut number = 0;
    for size in [4, 9, 14, 16, 11, 6] {
        let mut layer = Vec::new();
        for _ in 0..size {
            number += 1;
            let name = format!("dataset-with-quite-a-long-name-{number}");
            layer.push(graph.node(Node::version(&name, number, None)));
        }
        layers.push(layer);
    }
    for at in 1..layers.len() {
        for (index, child) in layers[at].iter().enumerate() {
            let before = &layers[at - 1];
            graph.edge(*child, before[index * 7 % before.len()], "prepared_from", "");
            graph.edge(*child, before[index * 3 % before.len()], "looked_up_in", "");
            if index % 4 == 0 && at > 1 {
                graph.edge(*child, layers[0][index % 4], "derived_from", "");
            }
        }
    }
    graph
}

#[test]
fn sixty_boxes_do_not_overlap_and_lie_inside() {
    let graph = large();
    assert_eq!(graph.nodes().len(), 60);
    let drawing = draw(&graph);
    for (at, (x, y)) in drawing.boxes.iter().enumerate() {
        assert!(*x >= 0.0 && *y >= -1e-6 && x + WIDTH <= drawing.size.0 + 1e-6 && y + HEIGHT <= drawing.size.1 + 1e-6);
        for (other_x, other_y) in &drawing.boxes[at + 1..] {
            let apart = (x - other_x).abs() >= WIDTH || (y - other_y).abs() >= HEIGHT;
            assert!(apart, "box {at} at {x},{y} and one at {other_x},{other_y}");
        }
    }
    for edge in graph.edges() {
        assert!(drawing.boxes[edge.parent].0 < drawing.boxes[edge.child].0, "parents stand left of their children");
    }
}

#[test]
fn events_have_the_shape_of_openlineage() {
    let graph = small();
    let all = events(&graph, "heldset://store", "urn:heldset:0");
    assert_eq!(all.len(), 4, "one for each thing that was made");
    assert_eq!(all, events(&graph, "heldset://store", "urn:heldset:0"), "the same each time");
    for event in &all {
        let event = event.as_object().unwrap();
        let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        assert_eq!(text("eventType"), "COMPLETE");
        assert_eq!(text("schemaURL"), "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent");
        assert!(text("eventTime").ends_with('Z') && !text("producer").is_empty());
        let part = |name: &str, key: &str| event.get(name)?.as_object()?.get(key)?.as_str().map(str::to_owned);
        let id = part("run", "runId").unwrap();
        assert_eq!((id.len(), id.as_bytes()[14]), (36, b'8'), "{id}");
        assert!(matches!(id.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{id}");
        assert!(part("job", "namespace").is_some() && part("job", "name").is_some());
        for list in ["inputs", "outputs"] {
            for dataset in event.get(list).and_then(Value::as_array).unwrap() {
                let dataset = dataset.as_object().unwrap();
                assert!(dataset.get("namespace").is_some() && dataset.get("name").is_some());
                for (_, facet) in dataset.get("facets").unwrap().as_object().unwrap().iter() {
                    let facet = facet.as_object().unwrap();
                    assert!(facet.contains("_producer") && facet.contains("_schemaURL"));
                }
            }
        }
    }
    let text = String::from_utf8(heldset_core::canonical::bytes(&all[1])).unwrap();
    assert!(text.contains(r#""name":"prepare.clean""#), "{text}");
    assert!(text.contains(r#""datasetVersion":"1""#) && text.contains(r#""fields":[{"name":"text","type":"string"}]"#));
    let promoted = String::from_utf8(heldset_core::canonical::bytes(&all[3])).unwrap();
    assert!(promoted.contains(r#""parent":{"#) && promoted.contains(r#""name":"run.nightly""#), "{promoted}");
}
