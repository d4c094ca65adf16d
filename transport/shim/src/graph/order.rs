//! Which nodes that call functions are next to each node of a graph, before or behind it. A graph has tens of thousands of nodes: each
//! edge is looked at once, and of a node is kept what comes of it, not all that comes before it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// Some of the nodes that call functions, by their numbers.
#[derive(Clone, Debug, Default)]
struct Set(Vec<u64>);

impl Set {
    fn has(&self, at: usize) -> bool {
        let bits = self.0.get(at / 64);
        bits.is_some_and(|bits| (bits >> (at % 64)) & 1 != 0)
    }

    fn insert(&mut self, at: usize) {
        if self.0.len() <= at / 64 {
            self.0.resize(at / 64 + 1, 0);
        }
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn add(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (own, more) in self.0.iter_mut().zip(&other.0) {
            *own |= more;
        }
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        let words = self.0.iter().copied().enumerate();
        let some = words.filter(|(_, bits)| *bits != 0);
        some.flat_map(|(word, bits)| {
            let set = (0..64_usize).filter(move |bit| (bits >> *bit) & 1 != 0);
            set.map(move |bit| word * 64 + bit)
        })
    }
}

/// A node that matters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// Its number, from 0 on.
    pub(super) at: usize,
    /// If it calls functions of the client, its number among those that do.
    pub(super) call: Option<usize>,
}

/// What comes before a node, of those that call functions.
#[derive(Clone, Debug, Default)]
struct Before {
    all: Set,
    /// Those of them that come before another one.
    had: Set,
}

/// The nodes that call functions and come before each of `marked`, by number, without those that come before another such one.
/// With edges that are turned round: those that come behind it, without those behind another. Nodes of a ring, which no graph has,
/// come before none.
pub(super) fn nearest(
    nodes: &[u64],
    edges: impl Iterator<Item = (u64, u64)>,
    marked: &HashMap<u64, Mark>,
) -> Vec<Vec<usize>> {
    let mut next: HashMap<u64, Vec<u64>> = HashMap::new();
    let mut awaited: HashMap<u64, usize> = HashMap::new();
    for (from, to) in edges {
        next.entry(from).or_default().push(to);
        *awaited.entry(to).or_default() += 1;
    }
    let count = marked.values().map(|mark| mark.at + 1).max().unwrap_or(0);
    let mut found = vec![Vec::new(); count];
    // Nodes behind a single other one have what that has.
    let mut known: HashMap<u64, Rc<Before>> = HashMap::new();
    let is_first = |node: &u64| !awaited.contains_key(node);
    let mut ready: Vec<u64> = nodes.iter().copied().filter(is_first).collect();
    while let Some(node) = ready.pop() {
        let mut own = known.remove(&node).unwrap_or_default();
        if let Some(mark) = marked.get(&node) {
            let last = own.all.iter().filter(|call| !own.had.has(*call));
            found[mark.at] = last.collect();
            if let Some(call) = mark.call {
                let own = Rc::make_mut(&mut own);
                own.had.add(&own.all);
                own.all.insert(call);
            }
        }
        for after in next.remove(&node).unwrap_or_default() {
            match known.entry(after) {
                Entry::Vacant(free) => {
                    free.insert(Rc::clone(&own));
                }
                Entry::Occupied(mut of_it) => {
                    let of_it = Rc::make_mut(of_it.get_mut());
                    of_it.all.add(&own.all);
                    of_it.had.add(&own.had);
                }
            }
            let left = awaited.entry(after).or_insert(1);
            *left -= 1;
            if *left == 0 {
                ready.push(after);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// What is reached against the edges, without `from`.
    fn reached(from: u64, edges: &[(u64, u64)]) -> Vec<u64> {
        let (mut seen, mut open) = (Vec::new(), vec![from]);
        while let Some(at) = open.pop() {
            for (other, _) in edges.iter().filter(|edge| edge.1 == at) {
                if !seen.contains(other) {
                    seen.push(*other);
                    open.push(*other);
                }
            }
        }
        seen
    }

    fn marked(marks: &[(u64, bool)]) -> HashMap<u64, Mark> {
        let mut calls = 0..;
        let mark = |(at, (node, is_calling)): (usize, &(u64, bool))| {
            let call = is_calling.then(|| calls.next()).flatten();
            (*node, Mark { at, call })
        };
        marks.iter().enumerate().map(mark).collect()
    }

    #[test]
    fn nodes_know_the_functions_next_to_them_on_both_sides() {
        // Two ways from 1 to 6, one of which has functions 3 and 5; 7 is by itself, and 8 is a function behind 6.
        let edges = [
            (1, 2),
            (2, 3),
            (3, 5),
            (5, 6),
            (1, 4),
            (4, 6),
            (1, 4),
            (6, 8),
            (3, 8),
        ];
        let back = edges.map(|(from, to)| (to, from));
        let nodes = [6, 3, 1, 2, 4, 7, 8, 5];
        let calling: [u64; 4] = [3, 5, 7, 8];
        let marks = [1, 3, 4, 5, 6, 7, 8].map(|node| (node, calling.contains(&node)));
        let marked = marked(&marks);
        for edges in [edges, back] {
            let found = nearest(&nodes, edges.into_iter(), &marked);
            for (at, (node, _)) in marks.into_iter().enumerate() {
                let all = reached(node, &edges);
                let own = calling.iter().filter(|call| all.contains(call));
                let had = |call: &u64| own.clone().any(|by| reached(*by, &edges).contains(call));
                let nearest: Vec<u64> = own.clone().filter(|call| !had(call)).copied().collect();
                let found: Vec<u64> = found[at].iter().map(|call| calling[*call]).collect();
                assert_eq!(found, nearest, "{node}");
            }
        }
        assert_eq!(nearest(&nodes, edges.into_iter(), &marked)[4], [1]);
        let behind = nearest(&nodes, back.into_iter(), &marked);
        assert_eq!((&behind[0][..], &behind[2][..]), (&[0][..], &[3][..]));
    }

    #[test]
    fn each_edge_of_a_large_graph_is_looked_at_once_and_little_is_kept() {
        const NODES: u64 = 20_000;
        let looked = Cell::new(0);
        let edges = (1..NODES).map(|node| {
            looked.set(looked.get() + 1);
            (node - 1, node)
        });
        let nodes: Vec<u64> = (0..NODES).collect();
        // Every twentieth calls a function.
        let marks: Vec<(u64, bool)> = (0..NODES)
            .map(|node| (node, node.is_multiple_of(20)))
            .collect();
        let found = nearest(&nodes, edges, &marked(&marks));
        assert_eq!(looked.get(), NODES - 1);
        assert!(found[0].is_empty());
        assert!(found[1..].iter().all(|calls| calls.len() == 1));
        assert_eq!(found[20], [0]);
        assert_eq!(found[19_999], [999]);
    }

    #[test]
    fn a_ring_is_no_ring_for_ever() {
        let marked = marked(&[(2, true)]);
        let found = nearest(&[1, 2], [(1, 2), (2, 2)].into_iter(), &marked);
        assert!(found.len() == 1 && found[0].is_empty());
    }
}
