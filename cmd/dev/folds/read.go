package folds

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// Sessions calls yield for each session of the fixtures' folder of sessions, with the name of its collection. A collection is a
// file of JSON lines, or an archive of transcripts.
func Sessions(ctx context.Context, dir string, yield func(collection string, s sessions.Session) error) error {
	files, err := sessions.Files([]string{dir})
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".gz"), ".jsonl")
		err = errors.Join(err, sessions.ReadFile(ctx, file, func(s sessions.Session) error { return yield(name, s) }))
	}
	archives, _ := filepath.Glob(filepath.Join(dir, "*.tar.gz"))
	for _, file := range archives {
		name := strings.TrimSuffix(filepath.Base(file), ".tar.gz")
		err = errors.Join(err, readArchive(ctx, file, func(s sessions.Session) error { return yield(name, s) }))
	}
	return err
}

func readArchive(ctx context.Context, file string, yield func(sessions.Session) error) error {
	return Archive(file, func(name string, transcript io.Reader) error { return sessions.Read(ctx, name, transcript, yield) })
}

// Archive calls yield for each transcript of an archive.
func Archive(file string, yield func(name string, transcript io.Reader) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for r := tar.NewReader(z); ; {
		entry, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case strings.HasSuffix(entry.Name, ".jsonl"):
			if err := yield(entry.Name, r); err != nil {
				return err
			}
		}
	}
}
