package calls

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// repository returns the makers of output of git and other tools, of the commands that print it, and of lock files.
func repository() map[string]maker {
	return map[string]maker{
		"out/git-log-p.txt":  history,
		"out/git-stat.txt":   historyStat,
		"out/git-diff.txt":   func(r *rand.Rand) string { return patch(r, 12) },
		"bin/git":            func(*rand.Rand) string { return gitScript },
		"package-lock.json":  packageLock,
		"go.sum":             goSum,
		"Cargo.lock":         cargoLock,
		"fix.patch":          func(r *rand.Rand) string { return patch(r, 30) },
		".gitignore":         func(*rand.Rand) string { return "dist/\n" },
		"out/files.txt":      fileList,
		"bin/find":           prints("out/files.txt", 0),
		"out/terraform.txt":  terraform,
		"bin/terraform":      prints("out/terraform.txt", 0),
		"deploy/Dockerfile":  func(*rand.Rand) string { return "FROM node:22\nCOPY . /app\nRUN npm ci\nCMD [\"npm\", \"start\"]\n" },
		"src/retry/limit.go": func(*rand.Rand) string { return retryLimit },
	}
}

const gitScript = `#!/bin/sh
case "$*" in
diff*) file=git-diff ;;
*--stat*) file=git-stat ;;
*) file=git-log-p ;;
esac
cat "${0%/*}/../out/$file.txt"
`

const retryLimit = `package retry

// enforce refuses an attempt beyond the retry limit.
func (p *Policy) enforce(attempt int) error {
	if attempt > p.limit {
		return ErrLimit
	}
	return nil
}
`

func hunk(r *rand.Rand, file string, line int, minus, plus string) string {
	n := noun(r)
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\nindex %[2]s..%[3]s 100644\n--- a/%[1]s\n+++ b/%[1]s\n@@ -%[4]d,5 +%[4]d,5 @@ func %[5]s() {\n \t%[6]s := load()\n \tif %[6]s == nil {\n-%[7]s\n+%[8]s\n \t}\n",
		file, hex(r, 7), hex(r, 7), line, name(r), n, minus, plus)
}

func commit(id, author, day, subject string) string {
	return fmt.Sprintf("commit %s\nAuthor: %s <%s@shop.example>\nDate:   %s\n\n    %s\n\n", id, author, strings.ToLower(strings.Fields(author)[0]), day, subject)
}

func day(i int) string { return fmt.Sprintf("Mon Feb %d 10:%02d:00 2026 +0100", 1+i%28, i%60) }

func history(r *rand.Rand) string {
	var b strings.Builder
	for i := range 150 {
		if i == 88 {
			b.WriteString(commit("5e1f00d2a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4", "Mia Lund", day(i), "retry: five attempts, as the bank asks for"))
			b.WriteString(hunk(r, "retry/policy.go", 31, "\t\tconst retryLimit = 3", "\t\tconst retryLimit = 5") + "\n")
			continue
		}
		b.WriteString(commit(hex(r, 40), pick(r, "Ann Moss", "Bo Hale"), day(i), noun(r)+": "+strings.ToLower(name(r))))
		b.WriteString(hunk(r, noun(r)+"/"+noun(r)+".go", r.IntN(300), "\t\t"+noun(r)+"."+name(r)+"()", "\t\t"+noun(r)+"."+name(r)+"(ctx)") + "\n")
	}
	return b.String()
}

func historyStat(r *rand.Rand) string {
	var b strings.Builder
	for i := range 200 {
		if i == 61 {
			b.WriteString(commit("0ddba11c0ffee0ddba11c0ffee0ddba11c0ffee0", "Mia Lund", day(i), "billing: reduced rate for books"))
			b.WriteString(" billing/tax.go | 14 +++++++++-----\n 1 file changed, 9 insertions(+), 5 deletions(-)\n\n")
			continue
		}
		b.WriteString(commit(hex(r, 40), pick(r, "Ann Moss", "Bo Hale"), day(i), noun(r)+": "+strings.ToLower(name(r))))
		fmt.Fprintf(&b, " %s/%s.go | %d ++--\n 1 file changed, 2 insertions(+), 2 deletions(-)\n\n", noun(r), noun(r), 1+r.IntN(9))
	}
	return b.String()
}

func patch(r *rand.Rand, hunks int) string {
	var b strings.Builder
	for range hunks {
		b.WriteString(hunk(r, noun(r)+"/"+noun(r)+".go", r.IntN(300), "\t\treturn "+noun(r), "\t\treturn "+noun(r)+", nil"))
	}
	return b.String()
}

func packageLock(r *rand.Rand) string {
	var entries []string
	for i := range 240 {
		pkg, version := noun(r)+"-"+noun(r)+fmt.Sprint(i), fmt.Sprintf("%d.%d.%d", r.IntN(9), r.IntN(20), r.IntN(9))
		if i == 151 {
			pkg, version = "semver", "7.7.4"
		}
		entries = append(entries, fmt.Sprintf("    \"node_modules/%s\": {\n      \"version\": \"%s\",\n      \"resolved\": \"https://registry.example/%s-%s.tgz\",\n      \"integrity\": \"sha512-%s==\",\n      \"license\": \"MIT\"\n    }", pkg, version, pkg, version, base64(r, 86)))
	}
	return "{\n  \"name\": \"shop\",\n  \"lockfileVersion\": 3,\n  \"packages\": {\n" + strings.Join(entries, ",\n") + "\n  }\n}\n"
}

func goSum(r *rand.Rand) string {
	given := map[int]string{
		301: "golang.org/x/net v0.44.0 h1:" + base64(r, 43) + "=",
		302: "golang.org/x/net v0.44.0/go.mod h1:" + base64(r, 43) + "=",
	}
	return with(500, given, func(i int) string {
		return fmt.Sprintf("example.org/%s/%s v%d.%d.%d h1:%s=", noun(r), noun(r), r.IntN(3), r.IntN(30), r.IntN(9), base64(r, 43))
	})
}

func cargoLock(r *rand.Rand) string {
	var b strings.Builder
	for i := range 180 {
		pkg, version := fmt.Sprintf("%s-%s-%d", noun(r), noun(r), i), fmt.Sprintf("%d.%d.%d", r.IntN(3), r.IntN(30), r.IntN(9))
		if i == 101 {
			pkg, version = "tokio", "1.51.2"
		}
		fmt.Fprintf(&b, "[[package]]\nname = \"%s\"\nversion = \"%s\"\nsource = \"registry+https://registry.example/index\"\nchecksum = \"%s\"\ndependencies = [\n \"%s\",\n \"%s\",\n]\n\n", pkg, version, hex(r, 64), noun(r), noun(r))
	}
	return b.String()
}

func fileList(r *rand.Rand) string {
	given := map[int]string{1900: "./deploy/terraform/modules/dns/records.tf"}
	return with(2500, given, func(i int) string {
		return fmt.Sprintf("./%s/%s/%s%d.%s", noun(r), noun(r), name(r), i, pick(r, "go", "ts", "py", "md"))
	})
}

func terraform(r *rand.Rand) string {
	var b strings.Builder
	for i := range 110 {
		kind, action := "aws_"+noun(r)+"."+noun(r), "updated in-place"
		if i == 70 {
			kind, action = "aws_db_instance.orders", "destroyed"
		}
		fmt.Fprintf(&b, "  # %s will be %s\n  ~ resource \"%s\" {\n        id   = \"%s\"\n      ~ tags = {\n          ~ \"build\" = \"%d\" -> \"%d\"\n        }\n    }\n\n", kind, action, kind, hex(r, 12), i, i+1)
	}
	return b.String() + "Plan: 0 to add, 109 to change, 1 to destroy.\n"
}
