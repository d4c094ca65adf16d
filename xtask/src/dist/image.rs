//! Container images, as archives of the OCI's image layout: `podman load --input FILE`, `skopeo copy oci-archive:FILE …`.
//!
//! They are written here, and not by a builder of images: the same files give the same bytes, and nothing of the host is
//! needed but tar and gzip.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::licences::sha256;
use super::{Dist, VERSION};
use crate::folders;
use crate::packages;
use crate::shell::{self, step};
use crate::vm::apt;

/// Of which the images' C library, libelf and zlib are.
const RELEASE: &str = "bookworm";
/// What the program needs of a system: the unit's, without a shell and without a package manager.
const LIBRARIES: &str = "libc6,libelf1,zlib1g,libgcc-s1,ca-certificates";
/// What of these packages is no use in an image. Licences stay.
const UNUSED: [&str; 6] = [
    "var/cache",
    "var/lib/apt",
    "var/lib/dpkg",
    "var/log",
    "usr/share/man",
    "usr/share/locale",
];

/// What a container of the image runs, and where it finds things.
struct Image<'a> {
    name: &'a str,
    title: &'a str,
    entrypoint: &'a [&'a str],
    command: &'a [&'a str],
    environment: &'a [&'a str],
    user: &'a str,
}

impl Dist<'_> {
    /// The daemon and the server of GPUs, of one root file system; and the layer for clients, which has libraries alone.
    pub(super) fn images(&self) -> Result<Vec<String>> {
        packages::ensure(
            &["mmdebstrap", "debian-archive-keyring"],
            "the images' libraries are Debian's",
        )?;
        let root = self.root()?;
        let system = self.layer(&root, "system")?;
        let client = self.client()?;
        let client = self.layer(&client, "client")?;
        let path = "PATH=/usr/bin";
        let images = [
            (
                Image {
                    name: "gtrace",
                    title: "gtrace, the daemon",
                    entrypoint: &["/usr/bin/gtrace"],
                    command: &["run"],
                    environment: &[
                        path,
                        "NVIDIA_VISIBLE_DEVICES=all",
                        "NVIDIA_MIG_MONITOR_DEVICES=all",
                        "NVIDIA_DRIVER_CAPABILITIES=utility",
                    ],
                    user: "0",
                },
                &system,
            ),
            (
                Image {
                    name: "gtrace-serve",
                    title: "gtrace serve: GPUs for programs on other hosts",
                    entrypoint: &["/usr/bin/gtrace", "serve"],
                    command: &["--listen", "127.0.0.1:7471"],
                    environment: &[
                        path,
                        "NVIDIA_VISIBLE_DEVICES=all",
                        "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
                        // Where it makes the socket of its state.
                        "XDG_RUNTIME_DIR=/tmp",
                    ],
                    user: "65532",
                },
                &system,
            ),
            (
                Image {
                    name: "gtrace-client",
                    title: "gtrace's libcuda.so.1 for programs without a GPU: copy /opt/gtrace into an image",
                    entrypoint: &[],
                    command: &[],
                    environment: &["LD_LIBRARY_PATH=/opt/gtrace"],
                    user: "65532",
                },
                &client,
            ),
        ];
        images
            .iter()
            .map(|(image, layer)| self.image(image, layer))
            .collect()
    }

    /// The root file system of daemon and server.
    fn root(&self) -> Result<PathBuf> {
        let root = self.folder.join("image-root");
        folders::remove(&root)?;
        step(format!(
            "fetching the images' libraries of Debian {RELEASE}"
        ));
        apt::extract(RELEASE, LIBRARIES, &root)?;
        // No script of a package runs; this is what that of ca-certificates does.
        shell::run(Command::new("sh").current_dir(&root).args([
            "-c",
            "mkdir -p etc/ssl/certs && find usr/share/ca-certificates -name '*.crt' | sort | xargs cat >etc/ssl/certs/ca-certificates.crt",
        ]))?;
        for unused in UNUSED {
            let _ = fs::remove_dir_all(root.join(unused));
        }
        for folder in ["var/lib/gtrace", "run/gtrace", "etc/gtrace", "tmp"] {
            fs::create_dir_all(root.join(folder))?;
        }
        fs::set_permissions(root.join("tmp"), fs::Permissions::from_mode(0o1777))?;
        let content = self.folder.join("content");
        for path in ["usr/bin/gtrace", "usr/share/doc/gtrace"] {
            let to = root.join(path);
            fs::create_dir_all(to.parent().context("a folder")?)?;
            shell::run(
                Command::new("cp")
                    .arg("-a")
                    .arg(content.join(path))
                    .arg(&to),
            )?;
        }
        Ok(root)
    }

    /// The libraries of clients, under all their names.
    fn client(&self) -> Result<PathBuf> {
        let root = self.empty("image-client")?;
        let opt = root.join("opt");
        let mut unpack = Command::new(&self.binary);
        let folder = shell::read(unpack.args(["exec", "--unpack"]).arg(&opt))?;
        shell::run(Command::new("chmod").args(["-R", "a+rX"]).arg(&opt))?;
        let to = opt.join("gtrace");
        fs::rename(folder.trim(), &to).context(folder)?;
        for notice in ["LICENSE-MIT", "LICENSE-APACHE"] {
            fs::copy(self.context.root.join(notice), to.join(notice))?;
        }
        fs::copy(
            self.folder
                .join("content")
                .join(super::DOC)
                .join(super::NOTICES[0]),
            to.join(super::NOTICES[0]),
        )?;
        Ok(root)
    }

    /// Packs a folder as a layer: the archive, and the digest of what it is unpacked.
    fn layer(&self, root: &Path, name: &str) -> Result<Layer> {
        let tar = self.folder.join(format!("layer-{name}.tar"));
        shell::run(
            self.tar(&tar)
                .args(["--exclude=./dev/*", "--directory"])
                .arg(root)
                .arg("."),
        )?;
        let diff = sha256(&tar)?;
        shell::run(
            Command::new("gzip")
                .args(["-9", "--no-name", "--force"])
                .arg(&tar),
        )?;
        fs::remove_dir_all(root)?;
        Ok(Layer {
            file: tar.with_extension("tar.gz"),
            diff,
        })
    }

    /// tar, so that the same files give the same bytes.
    fn tar(&self, to: &Path) -> Command {
        let mut tar = Command::new("tar");
        tar.args([
            "--create",
            "--sort=name",
            "--owner=0",
            "--group=0",
            "--numeric-owner",
            "--format=gnu",
        ])
        .arg(format!("--mtime=@{}", self.time))
        .arg("--file")
        .arg(to);
        tar
    }

    fn image(&self, image: &Image<'_>, layer: &Layer) -> Result<String> {
        let name = format!(
            "{}-{VERSION}-{}.oci.tar",
            image.name,
            std::env::consts::ARCH
        );
        step(format!(
            "packing {}",
            self.context.short(&self.folder.join(&name))
        ));
        let layout = self.empty("image")?;
        let blobs = layout.join("blobs/sha256");
        fs::create_dir_all(&blobs)?;
        let blob = |bytes: &[u8], media: &str| -> Result<Value> {
            let file = layout.join("blob");
            fs::write(&file, bytes)?;
            keep(&file, &blobs, media)
        };
        let packed = layout.join("layer");
        fs::copy(&layer.file, &packed)?;
        let packed = keep(
            &packed,
            &blobs,
            "application/vnd.oci.image.layer.v1.tar+gzip",
        )?;
        let created = self.created()?;
        let labels = json!({
            "org.opencontainers.image.title": image.title,
            "org.opencontainers.image.version": VERSION,
            "org.opencontainers.image.created": created,
            "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            "org.opencontainers.image.base.name": format!("Debian {RELEASE}, extracted"),
        });
        let config = json!({
            "created": created,
            "architecture": match std::env::consts::ARCH { "x86_64" => "amd64", "aarch64" => "arm64", other => other },
            "os": "linux",
            "config": {
                "User": image.user,
                "Env": image.environment,
                "Entrypoint": image.entrypoint,
                "Cmd": image.command,
                "Labels": labels,
            },
            "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{}", layer.diff)] },
            "history": [{ "created": created, "created_by": "cargo xtask dist --images" }],
        });
        let config = blob(
            &serde_json::to_vec(&config)?,
            "application/vnd.oci.image.config.v1+json",
        )?;
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": config,
            "layers": [packed],
            "annotations": labels,
        });
        let mut manifest = blob(
            &serde_json::to_vec(&manifest)?,
            "application/vnd.oci.image.manifest.v1+json",
        )?;
        manifest["annotations"] =
            json!({ "org.opencontainers.image.ref.name": format!("{}:{VERSION}", image.name) });
        let index = json!({ "schemaVersion": 2, "manifests": [manifest] });
        fs::write(layout.join("index.json"), serde_json::to_vec(&index)?)?;
        fs::write(
            layout.join("oci-layout"),
            br#"{"imageLayoutVersion":"1.0.0"}"#,
        )?;
        let mut tar = self.tar(&self.folder.join(&name));
        tar.arg("--directory").arg(&layout);
        shell::run(tar.args(["blobs", "index.json", "oci-layout"]))?;
        Ok(name)
    }
}

/// A layer of an image.
struct Layer {
    file: PathBuf,
    /// SHA-256 of the tar that is packed in it.
    diff: String,
}

/// Moves `file` among the blobs, by its digest; answers with its descriptor.
fn keep(file: &Path, blobs: &Path, media: &str) -> Result<Value> {
    let digest = sha256(file)?;
    let size = fs::metadata(file)?.len();
    fs::rename(file, blobs.join(&digest))?;
    Ok(json!({ "mediaType": media, "digest": format!("sha256:{digest}"), "size": size }))
}
