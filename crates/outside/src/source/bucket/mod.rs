//! Objects of a bucket: S3, Google Cloud Storage, Azure, or a folder, by URL.
//!
//! *Invariant:* credentials come from the secret alone, never from the environment or a metadata service; without one
//! requests are not signed.

mod client;

use std::path::Path as FilePath;

use std::time::Duration;

use futures_util::TryStreamExt as _;
use heldset_core::address::Allow;
use heldset_core::code::Code;
use heldset_engine::feeds::FeedRequest;
use heldset_engine::refusal::{Outcome, Refusal};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _, RetryConfig,
};
use reqwest::Url;

use super::guard::Guard;
use super::keys::{Keys, refuse};
use super::objects::{ALONE, Fetched, Reading, nothing, remark};
use super::running::{Out, Stop, Work};
use super::secret::Secret;
use super::spool::{Full, Spool, Spooled, bytes_told};
use client::Connector;

/// How much of an object is asked for at a time.
const PIECE: u64 = 8 << 20;
/// The most objects that are listed.
const MOST: usize = 1_000_000;

/// A bucket and what is read of it.
pub(super) struct Bucket {
    url: Url,
    prefix: String,
    reading: Reading,
    secret: Secret,
    endpoint: Option<String>,
    region: Option<String>,
    allow: Allow,
    allow_http: bool,
    timeout: Duration,
    max_bytes: u64,
}

impl Bucket {
    /// Reads the configuration.
    pub(super) fn read(request: &FeedRequest) -> Outcome<Bucket> {
        let mut config = Keys::new("config", &request.config);
        let mut operation = Keys::new("operation_config", &request.operation_config);
        let url = address(&mut config, &request.folder);
        let endpoint = config.text("endpoint").map(str::to_owned);
        if let Some(endpoint) = &endpoint {
            check_endpoint(endpoint, &mut config);
        }
        let region = config.text("region").map(str::to_owned);
        let allow = config.allow();
        let allow_http = config.flag("allow_http");
        let timeout = config.seconds("timeout_s").unwrap_or(Duration::from_secs(60));
        let max_bytes = config.count("max_bytes", 1, 1 << 40).unwrap_or(4 << 30);
        if endpoint.as_deref().is_some_and(|endpoint| endpoint.starts_with("http://")) && !allow_http {
            config.wrong("`config.endpoint` is not protected by TLS", "write `allow_http: true` if that is meant");
        }
        let prefix = operation.text("prefix").unwrap_or_default().to_owned();
        let reading = Reading::read(&mut operation, request.after.as_ref());
        refuse([config.done(), operation.done()])?;
        let url = url.ok_or_else(|| Refusal::usage(Code::E067, "`config` has no `url`", "write one"))?;
        let secret = Secret::new(request.secret.as_ref());
        Ok(Bucket { url, prefix, reading, secret, endpoint, region, allow, allow_http, timeout, max_bytes })
    }

    /// Reads object after object.
    pub(super) fn work(self, mut out: Out) -> Work {
        Box::pin(async move {
            let (store, root) = self.store().await?;
            let objects = self.listing(store.as_ref(), &root).await?;
            self.objects(store.as_ref(), &root, objects, &mut out).await
        })
    }

    async fn objects(
        &self,
        store: &dyn ObjectStore,
        root: &Path,
        objects: Vec<ObjectMeta>,
        out: &mut Out,
    ) -> Result<(), Stop> {
        let (mut skipped, mut failed) = (Vec::new(), Vec::new());
        for object in objects {
            let name = name_in(root, &object.location);
            if self.reading.is_past(&name) {
                continue;
            }
            if let Some(why) = self.reading.skips(&name) {
                skipped.push((name, why.to_owned()));
                continue;
            }
            match self.fetch(store, &object).await {
                Ok(spooled) => {
                    let fetched = Fetched {
                        asked: format!("{}/{name}", self.url.as_str().trim_end_matches('/')),
                        name,
                        size: spooled.size,
                        sha256: spooled.sha256,
                        revision: object.e_tag.clone(),
                        body: Box::new(spooled.file),
                    };
                    self.reading.pages(fetched, &ALONE, out)?;
                }
                Err(Failure::Gone(why)) if !self.reading.choice.is_exactly(&name) => failed.push((name, why)),
                Err(Failure::Gone(why)) => return Err(self.failed(&why).into()),
                Err(Failure::Refused(refusal)) => return Err(refusal.into()),
            }
        }
        match skipped.is_empty() && failed.is_empty() {
            true => Ok(()),
            false => out.page(remark(skipped, failed, None)),
        }
    }

    /// The objects that are chosen, sorted by name.
    async fn listing(&self, store: &dyn ObjectStore, root: &Path) -> Outcome<Vec<ObjectMeta>> {
        let within = match self.prefix.is_empty() {
            true => root.clone(),
            false => root.parts().chain(Path::from(self.prefix.trim_matches('/')).parts()).collect(),
        };
        let mut listed = store.list(Some(&within).filter(|path| !path.as_ref().is_empty()));
        let mut objects = Vec::new();
        while let Some(object) = listed.try_next().await.map_err(|error| self.of_store(&error))? {
            if self.reading.choice.takes(&name_in(root, &object.location)) {
                objects.push(object);
            }
            if objects.len() > MOST {
                let message = format!("the bucket has more than {MOST} objects of that name");
                return Err(Refusal::usage(Code::E067, message, "name fewer with `prefix` or `glob`"));
            }
        }
        // What is named may be one object, which a listing of what is below it does not show.
        if objects.is_empty() && self.prefix.is_empty() && !root.as_ref().is_empty() {
            objects.extend(store.head(root).await.ok());
        }
        if objects.is_empty() {
            return Err(nothing(&format!("`{}`", self.url), &self.reading.choice));
        }
        objects.sort_by(|a, b| a.location.cmp(&b.location));
        Ok(objects)
    }

    async fn fetch(&self, store: &dyn ObjectStore, object: &ObjectMeta) -> Result<Spooled, Failure> {
        let mut spool = Spool::new(self.max_bytes);
        let mut from = 0;
        while from < object.size {
            let to = (from + PIECE).min(object.size);
            let mut options = GetOptions { range: Some(GetRange::Bounded(from..to)), ..GetOptions::default() };
            options.if_match = object.e_tag.clone();
            let piece = match store.get_opts(&object.location, options).await {
                Ok(piece) => piece.bytes().await,
                Err(error) => Err(error),
            };
            let piece = piece.map_err(|error| self.trouble(&error))?;
            spool.push(&piece).map_err(|full| match full {
                Full::TooMany(limit) => Failure::Gone(format!("larger than {}", bytes_told(limit))),
                Full::Io(error) => Failure::Refused(self.failed(&error.to_string())),
            })?;
            from = to;
        }
        spool.finish().map_err(|error| Failure::Refused(self.failed(&error.to_string())))
    }

    /// The store and the place in it that the address names.
    async fn store(&self) -> Outcome<(Box<dyn ObjectStore>, Path)> {
        let text = self.url.as_str();
        if self.url.scheme() == "file" {
            let folder = self.url.to_file_path().unwrap_or_default();
            let (base, root) = match folder.is_file() {
                true => (folder.parent().map(FilePath::to_path_buf).unwrap_or_default(), folder.file_name()),
                false => (folder.clone(), None),
            };
            let store = LocalFileSystem::new_with_prefix(base).map_err(|error| self.of_store(&error))?;
            let root = root.map(|name| Path::from(name.to_string_lossy().as_ref())).unwrap_or_default();
            return Ok((Box::new(store), root));
        }
        let root = Path::from_url_path(self.url.path()).unwrap_or_default();
        let guard = Guard::new(self.allow.clone());
        if let Some(endpoint) = self.endpoint.as_deref().and_then(|endpoint| Url::parse(endpoint).ok()) {
            guard.admit_url(&endpoint).await?;
        }
        let connector = Connector::new(guard, self.timeout);
        let options = ClientOptions::new().with_allow_http(self.allow_http).with_timeout(self.timeout);
        let retry = RetryConfig { max_retries: 3, retry_timeout: self.timeout, backoff: BackoffConfig::default() };
        let built: object_store::Result<Box<dyn ObjectStore>> = match self.url.scheme() {
            "s3" | "s3a" => {
                let builder = AmazonS3Builder::new().with_url(text).with_retry(retry).with_client_options(options);
                self.s3(builder).with_http_connector(connector).build().map(|store| Box::new(store) as _)
            }
            "gs" => {
                let builder =
                    GoogleCloudStorageBuilder::new().with_url(text).with_retry(retry).with_client_options(options);
                self.gcs(builder).with_http_connector(connector).build().map(|store| Box::new(store) as _)
            }
            _ => {
                let builder =
                    MicrosoftAzureBuilder::new().with_url(text).with_retry(retry).with_client_options(options);
                self.azure(builder).with_http_connector(connector).build().map(|store| Box::new(store) as _)
            }
        };
        Ok((built.map_err(|error| self.of_store(&error))?, root))
    }

    fn s3(&self, mut builder: AmazonS3Builder) -> AmazonS3Builder {
        builder = builder.with_region(self.region.as_deref().unwrap_or("us-east-1"));
        if let Some(endpoint) = &self.endpoint {
            builder = builder.with_endpoint(endpoint).with_virtual_hosted_style_request(false);
        }
        let key = self.secret.text(&["access_key_id", "access_key", "username"]);
        match key.zip(self.secret.text(&["secret_access_key", "secret_key", "password"])) {
            Some((key, word)) => {
                builder = builder.with_access_key_id(key).with_secret_access_key(word);
                match self.secret.text(&["session_token"]) {
                    Some(token) => builder.with_token(token),
                    None => builder,
                }
            }
            None => builder.with_skip_signature(true),
        }
    }

    fn gcs(&self, builder: GoogleCloudStorageBuilder) -> GoogleCloudStorageBuilder {
        let builder = match &self.endpoint {
            Some(endpoint) => builder.with_base_url(endpoint),
            None => builder,
        };
        match self.secret.text(&["service_account_key", "key"]) {
            Some(key) => builder.with_service_account_key(key),
            None => builder.with_skip_signature(true),
        }
    }

    fn azure(&self, mut builder: MicrosoftAzureBuilder) -> MicrosoftAzureBuilder {
        use object_store::azure::AzureConfigKey;
        if let Some(endpoint) = &self.endpoint {
            builder = builder.with_endpoint(endpoint.clone());
        }
        if let Some(account) = self.secret.text(&["account_name", "username"]) {
            builder = builder.with_account(account);
        }
        match (self.secret.text(&["access_key", "account_key", "password"]), self.secret.text(&["sas_token"])) {
            (Some(key), _) => builder.with_access_key(key),
            (None, Some(token)) => builder.with_config(AzureConfigKey::SasKey, token),
            (None, None) => builder.with_skip_signature(true),
        }
    }

    fn trouble(&self, error: &object_store::Error) -> Failure {
        match error {
            object_store::Error::NotFound { .. }
            | object_store::Error::PermissionDenied { .. }
            | object_store::Error::Unauthenticated { .. } => Failure::Gone(self.told(error)),
            object_store::Error::Precondition { .. } => Failure::Gone("it changed while it was read".to_owned()),
            other => Failure::Refused(self.of_store(other)),
        }
    }

    fn of_store(&self, error: &object_store::Error) -> Box<Refusal> {
        match client::refusal_in(error) {
            Some(refusal) => refusal,
            None => self.failed(&self.told(error)),
        }
    }

    fn told(&self, error: &object_store::Error) -> String {
        self.secret.hidden(&crate::requests::chain(error).split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn failed(&self, why: &str) -> Box<Refusal> {
        let shown: String = why.chars().take(400).collect();
        let help = "see `url`, `endpoint` and `region` of the connector, and whether its credential may read it";
        Refusal::incomplete(Code::E070, format!("`{}` cannot be read: {shown}", self.url), help)
    }
}

/// Why an object is not there.
enum Failure {
    /// This one cannot be had.
    Gone(String),
    /// None can.
    Refused(Box<Refusal>),
}

/// The name of an object, from the place that the connector names.
fn name_in(root: &Path, location: &Path) -> String {
    let rest = location.as_ref().strip_prefix(root.as_ref()).unwrap_or(location.as_ref()).trim_start_matches('/');
    let own = || location.filename().unwrap_or_default().to_owned();
    if rest.is_empty() { own() } else { rest.to_owned() }
}

fn address(keys: &mut Keys<'_>, folder: &str) -> Option<Url> {
    let text = keys.needed("url", "write `s3://bucket/prefix`, `gs://…`, `az://…` or `file:///folder`");
    if text.is_empty() {
        return None;
    }
    let relative = text.strip_prefix("file:").filter(|rest| !rest.starts_with('/'));
    let url = match relative {
        Some(rest) => Url::from_file_path(FilePath::new(folder).join(rest)).ok(),
        None => Url::parse(text).ok(),
    };
    let Some(url) = url else {
        keys.wrong(format!("`{text}` is not an address of a bucket"), "write it as `s3://bucket/prefix`");
        return None;
    };
    if !url.username().is_empty() && !url.scheme().starts_with("abfs") || url.password().is_some() {
        keys.in_the_clear("a user or a password in its address");
        return None;
    }
    match url.scheme() {
        "s3" | "s3a" | "gs" | "az" | "adl" | "azure" | "abfs" | "abfss" | "file" => Some(url),
        scheme => {
            keys.wrong(format!("`{scheme}` is no kind of bucket"), "use `s3`, `gs`, `az` or `file`");
            None
        }
    }
}

fn check_endpoint(endpoint: &str, keys: &mut Keys<'_>) {
    let fine = |url: &Url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
    match Url::parse(endpoint).ok().filter(fine) {
        Some(url) if !url.username().is_empty() || url.password().is_some() => {
            keys.in_the_clear("a user or a password in its endpoint");
        }
        Some(_) => {}
        None => keys.wrong(format!("`{endpoint}` is not an endpoint"), "write it as `https://host:port`"),
    }
}
