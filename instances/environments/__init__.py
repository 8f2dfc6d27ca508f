"""Recipe -> lock -> image chain -> test plan.

- **Layers.** An environment's name is a hash of its lock, so instances with the same lock share it. The host's
  certificates, proxy and index settings reach a build as secrets (BuildKit), or in a stage that is thrown away.
- **Two kinds of lock.** Python packages are resolved as of the instance's date, because projects seldom keep a
  lock. In other languages the lock is the digest of the tree's manifests (``go.sum``, ``Cargo.lock``, ``pom.xml``
  ...): the ordinary client fetches over the base tree, and only ``/opt`` is kept. Where no lock file fixes
  versions, the instance's date is part of the lock.
- **The package date is at least 90 days after the release of the Python used**: older packages do not run on it.
- **Locks are resolved in a container.** A repository's setup script never runs on the host.
- **Installation without network.** Build requirements are part of the lock, so the project is installed without
  network and without build isolation: in editable mode where its backend can, else by ``setup.py develop``.
- **Builds before tests.** An instance image holds the project and its tests compiled, so tests compile only what a
  patch changes. All files of a tree have one old date, so build tools see every patched file as newer.
- **One bad row stops no run.** An instance whose recipe cannot be read keeps a plan that fails; building its image
  reports the reason as the instance's own ``env_error``.
"""
