package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"time"
)

// tarred packs files in the given order, all with one time and no owner.
func tarred(files []file, when time.Time) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
	t := tar.NewWriter(z)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.data)), ModTime: when, Format: tar.FormatUSTAR}
		if f.link != "" {
			header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, f.link, 0o777
		}
		_ = t.WriteHeader(header) // a buffer takes everything
		_, _ = t.Write(f.data)
	}
	_ = t.Close()
	_ = z.Close()
	return b.Bytes()
}

// zipped packs files in the given order, all with one time.
func zipped(files []file, when time.Time) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when}
		header.SetMode(f.mode)
		w, _ := z.CreateHeader(header) // a buffer takes everything
		_, _ = w.Write(f.data)
	}
	_ = z.Close()
	return b.Bytes()
}
