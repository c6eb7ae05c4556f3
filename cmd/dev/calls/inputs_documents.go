package calls

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// documents returns the makers of pages in several languages and encodings, and of a picture.
func documents() map[string]maker {
	return map[string]maker{
		"docs/guide.md":       guide,
		"docs/keys.html":      keysPage,
		"docs/pricing.html":   pricing,
		"docs/ja.md":          japanese,
		"docs/zh.md":          chinese,
		"docs/alt.txt":        latin1,
		"data/logo.png":       picture,
		"docs/book.txt":       book,
		"docs/changelog.md":   changelog,
		"docs/onepage.min.md": func(r *rand.Rand) string { return strings.ReplaceAll(guide(r), "\n\n", "\n") },
	}
}

func sentence(r *rand.Rand) string {
	return fmt.Sprintf("Each %s has a %s, and the %s of a %s is kept with its %s until the %s is closed.", noun(r), noun(r), noun(r), noun(r), noun(r), noun(r))
}

func paragraph(r *rand.Rand) string { return sentence(r) + "\n" + sentence(r) + "\n" + sentence(r) }

func guide(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("# Working on the shop\n\n")
	for i := range 24 {
		fmt.Fprintf(&b, "## %s\n\n%s\n\n%s\n\n", name(r), paragraph(r), paragraph(r))
		if i == 15 {
			b.WriteString("## Integration tests\n\nThey need a database. Start one, then run them against it:\n\n```sh\ndocker compose up -d db\nDATABASE_URL=postgres://localhost/shop_test make integration\n```\n\nThey take about four minutes.\n\n")
		}
	}
	return b.String()
}

func keysPage(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html>\n<head><title>Shop API</title></head>\n<body>\n<main>\n")
	for i := range 26 {
		fmt.Fprintf(&b, "<section id=\"s%d\">\n<h2>%s</h2>\n<p>%s</p>\n<p>%s</p>\n</section>\n", i, name(r), sentence(r), sentence(r))
		if i == 17 {
			b.WriteString("<section id=\"rotation\">\n<h2>Rotating an API key</h2>\n<p>Create the second key with <code>POST /v2/keys?rotate=true</code>. Both keys work for 24 hours, then the older one is revoked.</p>\n</section>\n")
		}
	}
	return b.String() + "</main>\n</body>\n</html>\n"
}

func pricing(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("<html><body>\n<h1>Plans</h1>\n<table>\n<tr><th>Plan</th><th>Seats</th><th>Price</th></tr>\n")
	for i := range 60 {
		plan, seats := fmt.Sprintf("%s %d", title(noun(r)), i), r.IntN(90)
		if i == 33 {
			plan, seats = "Team", 25
		}
		fmt.Fprintf(&b, "<tr>\n  <td>%s</td>\n  <td>%d seats</td>\n  <td>€ %d a month</td>\n</tr>\n", plan, seats, 9+i*7)
	}
	return b.String() + "</table>\n</body></html>\n"
}

func japanese(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("# 店舗システム運用手順\n\n")
	for i := range 40 {
		fmt.Fprintf(&b, "## 手順%d：%sの%s\n\n%sは毎日%d時に%sされます。担当者は%sを確認してください。\n終わったら%sに記録します。\n\n", i+1, pick(r, "注文", "在庫", "請求", "配送"), pick(r, "登録", "確認", "削除", "集計"),
			pick(r, "注文", "在庫", "請求書", "配送票"), r.IntN(24), pick(r, "集計", "送信", "印刷"), pick(r, "画面", "帳票", "一覧"), pick(r, "台帳", "日報"))
		if i == 22 {
			b.WriteString("## 再試行の設定\n\n決済の再試行回数の上限は payment.retry_max で設定します。既定値は5回です。\n上限に達した注文は保留になります。\n\n")
		}
	}
	return b.String()
}

func chinese(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("# 商店系统手册\n\n")
	for i := range 40 {
		fmt.Fprintf(&b, "## 第%d节 %s%s\n\n每个%s都有一个%s，系统会在%d点处理。\n请在%s中检查结果。\n\n", i+1, pick(r, "订单", "库存", "发票"), pick(r, "管理", "查询", "导出"),
			pick(r, "订单", "客户", "仓库"), pick(r, "编号", "状态", "标签"), r.IntN(24), pick(r, "报表", "日志", "列表"))
		if i == 28 {
			b.WriteString("## 数据库备份\n\n备份文件保存在 /var/backups/shop，保留三十天。\n恢复时运行 restore.sh 并指定日期。\n\n")
		}
	}
	return b.String()
}

func latin1(r *rand.Rand) string {
	given := map[int]string{140: "Die Grundgebühr beträgt 14 £ und wird jährlich geprüft."}
	text := with(260, given, func(i int) string {
		return fmt.Sprintf("§ %d Für jedes %s gilt: %s über %d Stück müssen geprüft und bestätigt werden.", i, pick(r, "Gerät", "Stück", "Fahrzeug"), pick(r, "Verkäufe", "Rückläufer", "Schäden"), r.IntN(90))
	})
	encoded, err := charmap.ISO8859_1.NewEncoder().String(text)
	if err != nil {
		panic(err) // the text above is Latin-1
	}
	return encoded
}

func picture(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	for range 60_000 {
		b.WriteByte(byte(r.IntN(256)))
	}
	return b.String()
}

func book(r *rand.Rand) string {
	return with(2600, map[int]string{}, func(i int) string {
		if i%130 == 1 {
			return fmt.Sprintf("\nCHAPTER %d\n", i/130+1)
		}
		return sentence(r)
	})
}

func changelog(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("# Changelog\n\n")
	for i := range 60 {
		fmt.Fprintf(&b, "## %d.%d.0\n\n", 9-i/10, 9-i%10)
		for range 5 {
			fmt.Fprintf(&b, "- %s: the %s of a %s is kept\n", name(r), noun(r), noun(r))
		}
		if i == 37 {
			b.WriteString("- Dropped support for Python 3.8\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}
