package exact_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// outputs is what tools print: made here, of this repository's files and of numbers.
func outputs(t testing.TB) map[string]string {
	t.Helper()
	files := sources(t)
	dice := func() *rand.Rand { return rand.New(rand.NewPCG(3, 4)) } // one for each: none depends on another
	return map[string]string{
		"numbers":        lines(1000, func(n int) string { return fmt.Sprint(n + 1) }),
		"large numbers":  lines(400, func(n int) string { return fmt.Sprint(100_000 + 377*n) }),
		"decimals":       lines(300, decimals(dice())),
		"csv":            lines(300, row(dice())),
		"ls -l":          listing(files, dice()),
		"find":           lines(len(files), func(n int) string { return files[n].path }),
		"git log --stat": history(files, dice()),
		"rg -n":          matches(files, regexp.MustCompile(`err|func `)),
		"diff":           difference(files[0].text + files[1].text),
		"sha256sum":      lines(len(files), func(n int) string { return fmt.Sprintf("%x  %s", sha256.Sum256([]byte(files[n].text)), files[n].path) }),
		"xxd":            hex.Dump([]byte(files[0].text)),
		"base64":         base64.StdEncoding.EncodeToString(noise(dice(), 6000)),
		"go test -v": lines(200, func(n int) string {
			return fmt.Sprintf("=== RUN   TestThing%d/case_%d\n--- PASS: TestThing%d/case_%d (0.%02ds)", n, n%7, n, n%7, n%90)
		}),
		"access log":     lines(200, access(dice())),
		"structured log": lines(200, structured(dice())),
		"ps":             lines(100, process(dice())),
		"cat -n":         numbered(files[2].text),
		"rules":          lines(100, func(n int) string { return rule(n, files[n%50].path) }),
	}
}

type source struct{ path, text string }

func sources(t testing.TB) (files []source) {
	t.Helper()
	for _, pattern := range []string{"../../../fsm/*.go", "../../../states/*.go", "../../../tools/*.go", "../../../docs/*.md", "../../../cmd/internal/*/*.go"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			require.NoError(t, err)
			files = append(files, source{strings.TrimPrefix(path, "../../../"), string(raw)})
		}
	}
	require.Greater(t, len(files), 50)
	return files
}

func lines(n int, line func(int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

func listing(files []source, random *rand.Rand) string {
	return lines(len(files), func(n int) string {
		return fmt.Sprintf("-rw-r--r-- 1 root root %7d Nov %2d %02d:%02d %s", len(files[n].text), 1+random.IntN(30), random.IntN(24), random.IntN(60), filepath.Base(files[n].path))
	})
}

func history(files []source, random *rand.Rand) string {
	return lines(30, func(n int) string {
		text := fmt.Sprintf("commit %x\nAuthor: A Person <person@example.com>\nDate:   Sat Nov 21 %02d:%02d:%02d 2026 +0000\n\n    states: say once what is said twice\n", noise(random, 20), n%24, n%60, n*7%60)
		for range 6 {
			f := files[random.IntN(len(files))]
			changed := 1 + random.IntN(90)
			text += fmt.Sprintf("\n %-45s | %3d %s", f.path, changed, strings.Repeat("+", changed/2)+strings.Repeat("-", changed/3))
		}
		return text + "\n"
	})
}

func matches(files []source, wanted *regexp.Regexp) string {
	var b strings.Builder
	for _, f := range files {
		for n, line := range strings.Split(f.text, "\n") {
			if wanted.MatchString(line) && b.Len() < 40_000 {
				fmt.Fprintf(&b, "%s:%d:%s\n", f.path, n+1, line)
			}
		}
	}
	return b.String()
}

func difference(text string) string {
	all := strings.Split(text, "\n")
	return lines(len(all), func(n int) string {
		if n%40 == 0 {
			return fmt.Sprintf("@@ -%d,%d +%d,%d @@", n, 7+n%9, n+3, 8+n%5)
		}
		return " +- "[n/3%4:n/3%4+1] + all[n]
	})
}

func numbered(text string) string {
	all := strings.Split(text, "\n")
	return lines(len(all), func(n int) string { return fmt.Sprintf("%6d\t%s", n+1, all[n]) })
}

func decimals(random *rand.Rand) func(int) string {
	return func(n int) string { return fmt.Sprintf("%d\t%.3f\t%x", n, random.Float64()*100, random.IntN(1<<20)) }
}

func row(random *rand.Rand) func(int) string {
	colours := []string{"red", "green", "blue"}
	return func(n int) string {
		return fmt.Sprintf("%d,%.2f,%s,%d", n, random.Float64()*90, colours[n%3], random.IntN(1e6))
	}
}

func access(random *rand.Rand) func(int) string {
	return func(n int) string {
		return fmt.Sprintf(`10.0.%d.%d - - [21/Nov/2026:10:%02d:%02d +0000] "GET /api/items/%d?page=%d HTTP/1.1" %d %d "-" "curl/8.5.0"`,
			n%250, random.IntN(250), n/60%60, n%60, random.IntN(9999), n%9, 200+n%3*102, random.IntN(50_000))
	}
}

func structured(random *rand.Rand) func(int) string {
	return func(n int) string {
		return fmt.Sprintf(`{"time":"2026-11-21T10:%02d:%02d.%06dZ","level":"info","msg":"request done","id":"req_%x","status":%d,"duration_ms":%.2f}`,
			n/60%60, n%60, random.IntN(1e6), noise(random, 8), 200+n%3*102, random.Float64()*50)
	}
}

func process(random *rand.Rand) func(int) string {
	return func(n int) string {
		return fmt.Sprintf("root %9d  0.%d  1.%d %6d %5d ?        Ssl  10:%02d   0:0%d /usr/bin/worker --config /etc/worker/%d.conf", 100+n*7, n%9, n%7, random.IntN(900_000), random.IntN(90_000), n%60, n%9, n)
	}
}

// rule is a heading between long runs of one character, and a line below it.
func rule(n int, name string) string {
	side := strings.Repeat("=", 20+n%15)
	return side + " " + name + " " + side + "\nassert got == want, want is what " + name + " says\n" + strings.Repeat("-", 60+n%20)
}

func noise(random *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// scripts is text in other scripts, and with accents.
var scripts = map[string]string{
	"Japanese": "設定ファイルは起動時に一度だけ読み込まれます。変更した場合はサーバーを再起動してください。接続に失敗したときは、三回まで自動的に再試行します。" +
		"それでもつながらない場合は、ログにエラーの内容が記録されます。ログの保存場所は環境変数で変えることができます。詳しい使い方については、説明書の第二章をお読みください。" +
		"昨日の会議で決まったとおり、新しい機能は来週の月曜日に公開する予定です。テストはほとんど終わっていますが、古い端末での動作がまだ確認できていません。",
	"Chinese": "配置文件只在启动时读取一次,修改之后需要重新启动服务器。如果连接失败,程序会自动重试三次;仍然无法连接时,错误信息会写入日志。日志的位置可以通过环境变量来改变。" +
		"关于详细的使用方法,请阅读说明书的第二章。按照昨天会议的决定,新功能将在下周一发布。测试基本上已经完成,但是在旧设备上的运行情况还没有确认。" +
		"这个函数返回用户的姓名和地址,如果找不到用户,就返回一个空的结果。",
	"Korean": "설정 파일은 시작할 때 한 번만 읽습니다. 내용을 바꾼 뒤에는 서버를 다시 시작해야 합니다. 연결에 실패하면 세 번까지 자동으로 다시 시도하고, 그래도 연결되지 않으면 오류가 로그에 기록됩니다. " +
		"로그의 위치는 환경 변수로 바꿀 수 있습니다. 자세한 사용 방법은 설명서의 두 번째 장을 읽어 주세요. 어제 회의에서 정한 대로 새로운 기능은 다음 주 월요일에 공개할 예정입니다. " +
		"시험은 거의 끝났지만 오래된 기기에서 제대로 움직이는지는 아직 확인하지 못했습니다.",
	"Russian": "Файл настроек читается один раз при запуске, поэтому после изменений сервер нужно перезапустить. Если соединение не удалось, программа повторит попытку три раза, а затем запишет ошибку в журнал. " +
		"Место журнала можно изменить переменной окружения. Подробное описание находится во второй главе руководства. Как решили вчера на совещании, новая возможность выйдет в следующий понедельник.",
	"French": "Le fichier de réglages n’est lu qu’une fois, au démarrage : après une modification, il faut redémarrer le serveur. Si la connexion échoue, le programme réessaie trois fois, puis écrit l’erreur dans le journal. " +
		"L’emplacement du journal peut être changé par une variable d’environnement. Voyez le deuxième chapitre pour plus de détails ; la nouvelle fonctionnalité sera publiée lundi prochain.",
	"code with Japanese": "// 接続を開く。失敗したら三回まで再試行する。\nfunc open(address string) (*Conn, error) {\n\tfor try := 0; try < 3; try++ {\n\t\tconn, err := dial(address) // 時間がかかることがある\n\t\tif err == nil {\n\t\t\treturn conn, nil\n\t\t}\n\t\tlog.Printf(\"接続に失敗しました: %v\", err)\n\t}\n\treturn nil, errors.New(\"接続できません\")\n}\n",
}
