// Written by "mcp-pruner init cline"; "mcp-pruner init cline --uninstall" removes it.
// After each tool it lets mcp-pruner shorten the results. On any fault they stay.

// The user's last prompt and the agent's last words: what the result is wanted for.
function words(messages) {
  const texts = (role) =>
    (messages ?? [])
      .filter((m) => m.role === role)
      .flatMap((m) => m.content ?? [])
      .filter((p) => p.type === "text" && p.text)
      .map((p) => p.text)
  return { prompt: texts("user").at(-1), said: texts("assistant").slice(-3), ran: ran((messages ?? []).flatMap((m) => m.content ?? [])) }
}

// The tools that ran without an error: by them an agent can get a result back.
function ran(blocks) {
  const answered = new Set(blocks.filter((p) => p.type === "tool_result" && !p.is_error).map((p) => p.tool_use_id))
  return [...new Set(blocks.filter((p) => p.type === "tool_use" && answered.has(p.id)).map((p) => p.name))]
}

// The arguments of one part of a call that runs several commands, reads several files or makes several searches.
function part(input, i) {
  const command = input?.commands?.[i]
  if (command !== undefined) return typeof command === "string" ? { command } : command
  const file = input?.files?.[i]
  if (file !== undefined) return file
  const query = input?.queries?.[i]
  return query !== undefined ? { pattern: query } : input
}

async function shorten(context, text, args) {
  if (typeof text !== "string" || text.length < shortestOutput) return text
  const { output } = await ask({
    tool: context.tool.name,
    callID: context.toolCall?.toolCallId,
    sessionID: context.snapshot?.conversationId,
    directory: process.cwd(),
    args,
    output: text,
    ...words(context.snapshot?.messages),
  })
  return typeof output === "string" && output !== "" ? output : text
}

export default {
  name: "mcp-pruner",
  manifest: { capabilities: ["hooks"] },
  hooks: {
    afterTool: async (context) => {
      try {
        const { result, input } = context
        if (typeof result?.output === "string") {
          return { result: { ...result, output: await shorten(context, result.output, input) } }
        }
        if (!Array.isArray(result?.output)) return
        const output = []
        for (const [i, one] of result.output.entries()) {
          output.push(one?.success ? { ...one, result: await shorten(context, one.result, part(input, i)) } : one)
        }
        return { result: { ...result, output } }
      } catch {
        // the results stay as they are
      }
    },
  },
}
