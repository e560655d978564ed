//! Where the boxes and lines of a drawing are: layers from left to right, parents left of their children.
//!
//! *Invariant:* no two boxes overlap, and a line that passes a layer has a lane of its own there.

use std::collections::HashMap;

use super::Graph;

/// The width of a box.
pub const WIDTH: f64 = 210.0;
/// The height of a box.
pub const HEIGHT: f64 = 44.0;
const BETWEEN_LAYERS: f64 = 90.0;
const BETWEEN_BOXES: f64 = 16.0;
/// The height of a lane that a line passes a layer in.
const LANE: f64 = 10.0;
/// How often layers are put in order and moved.
const SWEEPS: usize = 12;

/// Places of boxes and lines.
#[derive(Clone, Debug, Default)]
pub struct Drawing {
    /// The upper left corner of each box, by the number of its node.
    pub boxes: Vec<(f64, f64)>,
    /// For each edge the points that its line goes through, from parent to child.
    pub lines: Vec<Vec<(f64, f64)>>,
    /// The size of all of it.
    pub size: (f64, f64),
}

/// A box, or the lane of a line.
struct Slot {
    layer: usize,
    height: f64,
    y: f64,
    left: Vec<usize>,
    right: Vec<usize>,
}

/// Lays a graph out.
pub fn draw(graph: &Graph) -> Drawing {
    let layers = layers_of(graph);
    let mut slots: Vec<Slot> = layers
        .iter()
        .map(|layer| Slot { layer: *layer, height: HEIGHT, y: 0.0, left: Vec::new(), right: Vec::new() })
        .collect();
    let mut ways: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<(usize, usize), usize> = HashMap::new();
    for edge in graph.edges() {
        // Edges between the same two boxes share their way.
        if let Some(at) = known.get(&(edge.parent, edge.child)) {
            ways.push(ways[*at].clone());
            continue;
        }
        known.insert((edge.parent, edge.child), ways.len());
        ways.push(way(&mut slots, edge.parent, edge.child));
    }
    let mut order: Vec<Vec<usize>> = vec![Vec::new(); layers.iter().max().map_or(0, |last| last + 1)];
    slots.iter().enumerate().for_each(|(at, slot)| order[slot.layer].push(at));
    for sweep in 0..SWEEPS {
        sort_layers(&mut slots, &mut order, sweep % 2 == 0);
    }
    for sweep in 0..SWEEPS {
        place_layers(&mut slots, &order, sweep % 2 == 0);
    }
    let top = slots.iter().map(|slot| slot.y - slot.height / 2.0).fold(f64::INFINITY, f64::min);
    slots.iter_mut().for_each(|slot| slot.y -= if top.is_finite() { top } else { 0.0 });
    finished(graph, &slots, &ways)
}

/// How many boxes at most lie before each on a way from the left. In a ring the edge that closes it does not count.
fn layers_of(graph: &Graph) -> Vec<usize> {
    let count = graph.nodes().len();
    let mut layers = vec![0; count];
    for _ in 0..count {
        let mut changed = false;
        for edge in graph.edges() {
            let least = layers[edge.parent] + 1;
            if layers[edge.child] < least && least < count {
                layers[edge.child] = least;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    pull_right(graph, &mut layers);
    layers
}

/// What nothing leads to stands right before what came from it, so that lines are short.
fn pull_right(graph: &Graph, layers: &mut [usize]) {
    for node in 0..layers.len() {
        let is_child = graph.edges().iter().any(|edge| edge.child == node);
        let first = graph.edges().iter().filter(|edge| edge.parent == node).map(|edge| layers[edge.child]).min();
        if let (false, Some(first)) = (is_child, first) {
            layers[node] = first.saturating_sub(1);
        }
    }
}

/// The slots that a line goes through; lanes are made for the layers between.
fn way(slots: &mut Vec<Slot>, parent: usize, child: usize) -> Vec<usize> {
    let (from, to) = (slots[parent].layer, slots[child].layer);
    let mut way = vec![parent];
    for layer in from + 1..to {
        slots.push(Slot { layer, height: LANE, y: 0.0, left: Vec::new(), right: Vec::new() });
        way.push(slots.len() - 1);
    }
    way.push(child);
    for pair in way.windows(2) {
        slots[pair[0]].right.push(pair[1]);
        slots[pair[1]].left.push(pair[0]);
    }
    way
}

/// Puts each layer in the order of the middles of its neighbours.
fn sort_layers(slots: &mut [Slot], order: &mut [Vec<usize>], rightwards: bool) {
    let mut ranks = vec![0.0; slots.len()];
    for layer in order.iter() {
        layer.iter().enumerate().for_each(|(rank, slot)| ranks[*slot] = (rank as f64 + 0.5) / layer.len() as f64);
    }
    let numbers: Vec<usize> = if rightwards { (1..order.len()).collect() } else { (0..order.len()).rev().collect() };
    for number in numbers {
        let layer = &mut order[number];
        let middle = |slot: &usize| {
            let around = if rightwards { &slots[*slot].left } else { &slots[*slot].right };
            match around.is_empty() {
                true => ranks[*slot],
                false => around.iter().map(|slot| ranks[*slot]).sum::<f64>() / around.len() as f64,
            }
        };
        let mut sorted: Vec<(f64, usize)> = layer.iter().map(|slot| (middle(slot), *slot)).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        *layer = sorted.into_iter().map(|(_, slot)| slot).collect();
        let length = layer.len() as f64;
        layer.iter().enumerate().for_each(|(rank, slot)| ranks[*slot] = (rank as f64 + 0.5) / length);
    }
}

/// Moves the slots of each layer as near to their neighbours as the room between them allows.
fn place_layers(slots: &mut [Slot], order: &[Vec<usize>], rightwards: bool) {
    let numbers: Vec<usize> = if rightwards { (0..order.len()).collect() } else { (0..order.len()).rev().collect() };
    for number in numbers {
        let layer = &order[number];
        let mut offsets = Vec::with_capacity(layer.len());
        let mut offset = 0.0;
        for (rank, slot) in layer.iter().enumerate() {
            if let Some(before) = rank.checked_sub(1).and_then(|rank| layer.get(rank)) {
                offset += (slots[*before].height + slots[*slot].height) / 2.0 + BETWEEN_BOXES;
            }
            offsets.push(offset);
        }
        let wanted = |slot: &usize| {
            let slot = &slots[*slot];
            let around: Vec<f64> = slot.left.iter().chain(&slot.right).map(|other| slots[*other].y).collect();
            if around.is_empty() { slot.y } else { around.iter().sum::<f64>() / around.len() as f64 }
        };
        let wishes: Vec<f64> = layer.iter().zip(&offsets).map(|(slot, offset)| wanted(slot) - offset).collect();
        for ((slot, place), offset) in layer.iter().zip(rising(&wishes)).zip(&offsets) {
            slots[*slot].y = place + offset;
        }
    }
}

/// The rising numbers that are nearest to these, by least squares.
fn rising(wishes: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for wish in wishes {
        pools.push((*wish, 1));
        while let [.., (before, some), (after, more)] = pools.as_slice()
            && before > after
        {
            let count = some + more;
            let mean = (before * *some as f64 + after * *more as f64) / count as f64;
            pools.truncate(pools.len() - 2);
            pools.push((mean, count));
        }
    }
    pools.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count)).collect()
}

fn finished(graph: &Graph, slots: &[Slot], ways: &[Vec<usize>]) -> Drawing {
    let x = |slot: &Slot| slot.layer as f64 * (WIDTH + BETWEEN_LAYERS);
    let count = graph.nodes().len();
    let boxes: Vec<(f64, f64)> = slots[..count].iter().map(|slot| (x(slot), slot.y - slot.height / 2.0)).collect();
    let line = |way: &Vec<usize>| {
        let mut points = Vec::new();
        for (index, slot) in way.iter().enumerate() {
            let slot = &slots[*slot];
            if index > 0 {
                points.push((x(slot), slot.y));
            }
            if index + 1 < way.len() {
                points.push((x(slot) + WIDTH, slot.y));
            }
        }
        points
    };
    let right = slots.iter().map(|slot| x(slot) + WIDTH).fold(0.0, f64::max);
    let bottom = slots.iter().map(|slot| slot.y + slot.height / 2.0).fold(0.0, f64::max);
    Drawing { boxes, lines: ways.iter().map(line).collect(), size: (right, bottom) }
}
