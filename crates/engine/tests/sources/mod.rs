//! Sources that are made up, on stores on disk: what a sync registers, keeps, refuses, and goes on from.

mod credentials;
mod streams;
mod syncs;

use std::sync::Arc;

use heldset_core::json;
use heldset_core::value::{Object, Value};
use heldset_core::visibility::Viewer;
use heldset_engine::import::Labelling;
use heldset_engine::refusal::Outcome;
use heldset_engine::session::Session;
use heldset_engine::source::{Reach, SyncMode, SyncRequest, Synced, add, sync};
use heldset_engine::view::{Look, View};
use heldset_engine::{connector, init};
use heldset_store::catalog::Batch;
use heldset_store::documents::{DatasetDoc, Document, VersionDoc, dataset_key, version_key};
use heldset_store::{DatasetKeys, DiskKeys, Entropy, NoProbe, Store, StoreFolder};
use heldset_testkit::{FixedClock, MadeUpFeeds, Quiet, Seeded};

/// A store on disk with a dataset `tickets` that has no version, and a connector of kind `http`.
struct World {
    folder: tempfile::TempDir,
    random: Arc<Seeded>,
    feeds: MadeUpFeeds,
}

impl World {
    fn new(feeds: MadeUpFeeds) -> World {
        let world = World { folder: tempfile::tempdir().unwrap(), random: Arc::new(Seeded::new(7)), feeds };
        let place = world.folder.path().join("store");
        init::init(&place, Viewer::Owner, &*world.random, "2026-01-01T00:00:00Z", Arc::new(NoProbe)).unwrap();
        let session = world.session();
        dataset(&session, "tickets");
        connector::add(&session, "api", "http", &Object::new()).unwrap();
        world
    }

    fn session(&self) -> Session {
        self.session_of("tester", Viewer::Owner)
    }

    fn session_of(&self, user: &str, viewer: Viewer) -> Session {
        let folder = StoreFolder::open(&self.folder.path().join("store"), Arc::new(NoProbe)).unwrap();
        let keys = DiskKeys::new(&self.folder.path().join("keys"), &folder.head().id, Arc::new(NoProbe));
        let store = Store::on_disk(folder, Arc::new(keys), Arc::clone(&self.random) as Arc<dyn Entropy>);
        Session { store, clock: Arc::new(FixedClock), user: user.to_owned(), viewer }
    }

    fn reach(&self) -> Reach<'_> {
        Reach { feeds: &self.feeds, folder: "." }
    }

    /// Adds a source; gives its id.
    fn add(&self, declared: &str) -> Outcome<String> {
        let declared = json::read(declared).unwrap().into_owned();
        add(&self.session(), self.reach(), "tickets", &declared).map(|source| source.doc.id)
    }

    fn sync(&self) -> Outcome<Synced> {
        self.sync_with(&SyncRequest { ..request() })
    }

    fn sync_with(&self, request: &SyncRequest<'_>) -> Outcome<Synced> {
        sync(&self.session(), self.reach(), request, &mut Quiet::default())
    }

    /// The records of the newest version as the owner sees them, one on each line, sources by their first letters.
    fn rows(&self) -> String {
        let session = self.session();
        let look = Look { cite: "tickets", split: None, place: None, purpose: "cat" };
        let view = View::open(&session, &look).unwrap();
        let mut out = Vec::new();
        for split in &view.splits {
            let taken = view.each_batch(split, |batch| {
                for row in 0..batch.len() {
                    batch.write_json(row, &mut out);
                    out.push(b'\n');
                }
                Ok(())
            });
            taken.unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    fn head(&self) -> VersionDoc {
        let session = self.session();
        let dataset: DatasetDoc = session.store.document(&dataset_key("tickets")).unwrap().unwrap();
        session.store.document(&version_key(&dataset.id, dataset.head)).unwrap().unwrap()
    }

    /// Every byte of the store and its keys.
    fn bytes(&self) -> Vec<u8> {
        let (mut open, mut all) = (vec![self.folder.path().to_owned()], Vec::new());
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => open.push(path),
                    false => all.extend(std::fs::read(path).unwrap()),
                }
            }
        }
        all
    }
}

static UNLABELLED: Labelling =
    Labelling { profile: None, labels: Vec::new(), visibility: None, policy: None, declassify: None };

fn request() -> SyncRequest<'static> {
    SyncRequest {
        slug: "tickets",
        sources: &[],
        restart: false,
        keep_valid: false,
        mode: SyncMode::Copy,
        labelling: &UNLABELLED,
        message: None,
        threads: 1,
    }
}

/// A dataset without a version.
fn dataset(session: &Session, slug: &str) {
    let keys = DatasetKeys::generate(session.store.entropy());
    let id = session.new_id();
    session.store.keys().save(&id, &keys).unwrap();
    let doc = DatasetDoc {
        key_check: Some(keys.check(&id)),
        id,
        slug: slug.to_owned(),
        name: slug.to_owned(),
        description: None,
        created_at: session.clock.now(),
        profile: "plain".to_owned(),
        head: 0,
        license: None,
        tags: Vec::new(),
        source: None,
        retention: None,
        deletion_status: "none".to_owned(),
        canaries: Default::default(),
        more: None,
    };
    let mut batch = Batch::durable();
    batch.put(dataset_key(slug), doc.to_bytes().unwrap());
    session.store.commit(&batch).unwrap();
}

fn code<T>(outcome: Outcome<T>) -> (String, String) {
    let refusal = outcome.err().unwrap();
    (refusal.code.name().to_owned(), format!("{} ({})", refusal.message, refusal.help))
}

fn sources_of(version: &VersionDoc) -> Vec<Object<'static>> {
    let provenance = heldset_engine::resolve::mapping(&version.provenance);
    let list = provenance.get("sources").and_then(Value::as_array).unwrap().to_vec();
    list.into_iter().map(|entry| entry.as_object().unwrap().clone()).collect()
}
