"""Images as one file: an OCI image layout in a tar, which podman, skopeo, apptainer and ``docker load`` read, too."""
