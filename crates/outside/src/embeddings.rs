//! Embeddings of texts by an endpoint, and a memory that searches with them.
//!
//! *Invariant:* vectors that are compared come from the same model and have the same length.

use std::sync::Arc;

use heldset_core::canonical;
use heldset_core::fault::Problem;
use heldset_core::value::{Object, Value};

use crate::config::{text, wrong};
use crate::memory::{Document, Hit, Memory, Soon, best, fits};
use crate::requests::{Endpoint, Net};

/// A model that embeds texts.
pub(crate) struct Embedder {
    endpoint: Endpoint,
    model: Option<String>,
}

impl Embedder {
    /// The embedder of a configuration with `base_url`, `model`, `api_key`, `headers`.
    pub(crate) fn prepare(config: &Object<'static>, net: &Arc<Net>) -> Result<Embedder, Problem> {
        let base = text(config, "base_url")?.ok_or_else(|| {
            wrong("base_url", "no `base_url` says where texts are embedded", "write `base_url: http://host:port/v1`")
        })?;
        let base = base.trim_end_matches('/');
        let url = if base.ends_with("/embeddings") { base.to_owned() } else { format!("{base}/embeddings") };
        let model = text(config, "model")?.map(str::to_owned);
        Ok(Embedder { endpoint: Endpoint::new(net, config, ("base_url", &url), &[])?, model })
    }

    /// The vector of each text, in order.
    pub(crate) async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f64>>, String> {
        let body = canonical::bytes(&self.request(texts));
        let reply =
            self.endpoint.send(body, "", &|_| String::new(), &mut 0).await.map_err(|failure| failure.message)?;
        vectors(&reply.json().map_err(|failure| failure.message)?, texts.len())
    }

    /// What is sent.
    pub(crate) fn request(&self, texts: &[String]) -> Value<'static> {
        let mut request = Object::new();
        if let Some(model) = &self.model {
            request.set("model", model.clone().into());
        }
        request.set("input", Value::Array(texts.iter().map(|text| text.clone().into()).collect()));
        request.into()
    }
}

fn vectors(answer: &Value<'static>, expected: usize) -> Result<Vec<Vec<f64>>, String> {
    let data =
        answer.as_object().and_then(|answer| answer.get("data")?.as_array()).ok_or("the answer has no `data`")?;
    let mut vectors = vec![Vec::new(); expected];
    for (place, item) in data.iter().enumerate() {
        let item = item.as_object().ok_or("an embedding is not a mapping")?;
        let index = match item.get("index") {
            Some(Value::Number(index)) => index.as_u64().map_or(place, |index| index as usize),
            _ => place,
        };
        let numbers = item.get("embedding").and_then(Value::as_array).ok_or("an embedding has no numbers")?;
        let numbers = numbers.iter().filter_map(|number| match number {
            Value::Number(number) => Some(number.as_f64()),
            _ => None,
        });
        *vectors.get_mut(index).ok_or("there are more embeddings than texts")? = numbers.collect();
    }
    match vectors.iter().all(|vector| !vector.is_empty() && vector.len() == vectors[0].len()) {
        true => Ok(vectors),
        false => Err("there are fewer embeddings than texts, or of unequal length".to_owned()),
    }
}

/// The cosine of the angle between two vectors.
pub(crate) fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let lengths = (product(a, a) * product(b, b)).sqrt();
    if lengths > 0.0 { product(a, b) / lengths } else { 0.0 }
}

/// A memory that finds what means the same.
pub(crate) struct Semantic {
    embedder: Arc<Embedder>,
    documents: Vec<(Document, Vec<f64>)>,
}

impl Semantic {
    /// An empty memory.
    pub(crate) fn new(embedder: Arc<Embedder>) -> Self {
        Semantic { embedder, documents: Vec::new() }
    }
}

impl Memory for Semantic {
    fn index_document<'m>(&'m mut self, document: Document) -> Soon<'m, ()> {
        Box::pin(async move {
            let vector = self.embedder.embed(std::slice::from_ref(&document.content)).await?.remove(0);
            self.documents.push((document, vector));
            Ok(())
        })
    }

    fn search<'m>(&'m self, query: &'m str, k: usize, filter: Option<&'m Object<'static>>) -> Soon<'m, Vec<Hit>> {
        Box::pin(async move {
            let query = self.embedder.embed(&[query.to_owned()]).await?.remove(0);
            let fitting = self.documents.iter().filter(|(document, _)| fits(document, filter));
            Ok(best(fitting.map(|(document, vector)| (document, cosine(&query, vector))), k))
        })
    }
}
