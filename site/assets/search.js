{{- $pages := slice -}}
{{- range site.RegularPages -}}
{{- $pages = $pages | append (dict "title" (partial "title" .) "url" (strings.TrimPrefix "/" .RelPermalink) "text" (.Plain | htmlUnescape)) -}}
{{- end -}}
// The pages' texts, and a search in them. It needs no server: this file is the index.
const pages = {{ $pages | jsonify }}
const box = document.getElementById("search")
const found = document.getElementById("found")
const root = new URL(".", document.currentScript.src)

// A page is found if it has every word; those with the words in their titles come first.
function search() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean)
  const hits = pages
    .map((page) => ({ page, title: page.title.toLowerCase(), text: page.text.toLowerCase() }))
    .filter((p) => words.length && words.every((w) => p.title.includes(w) || p.text.includes(w)))
  const inTitle = (p) => words.filter((w) => p.title.includes(w)).length
  hits.sort((a, b) => inTitle(b) - inTitle(a))
  found.replaceChildren(...hits.map(({ page, text }) => {
    const at = Math.max(0, text.indexOf(words[0]))
    const item = document.createElement("li")
    const link = document.createElement("a")
    link.href = new URL(page.url, root)
    link.textContent = page.title
    const excerpt = document.createElement("small")
    excerpt.textContent = page.text.slice(Math.max(0, at - 30), at + 70)
    link.append(excerpt)
    item.append(link)
    return item
  }))
  if (words.length && !hits.length) found.textContent = "No page has these words."
}

box.hidden = false
box.addEventListener("input", search)
