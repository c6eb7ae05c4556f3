package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"time"
)

// tarred returns a .tar.gz archive with the files in the given order. All have the same time and no owner, so that
// equal files give equal bytes.
func tarred(files []file, when time.Time) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.data)), ModTime: when}
		if f.link != "" {
			header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, f.link, 0o777
		}
		_ = t.WriteHeader(header) // a bytes.Buffer returns no errors
		_, _ = t.Write(f.data)
	}
	_ = t.Close()
	_ = z.Close()
	return b.Bytes()
}

// zipped returns a .zip archive with the files in the given order. All have the same time, so that equal files give
// equal bytes.
func zipped(files []file, when time.Time) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when}
		header.SetMode(f.mode)
		w, _ := z.CreateHeader(header) // a bytes.Buffer returns no errors
		_, _ = w.Write(f.data)
	}
	_ = z.Close()
	return b.Bytes()
}
