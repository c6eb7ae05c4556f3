// Written by "mcp-pruner init opencode"; "mcp-pruner init opencode --uninstall" removes it.
// After each tool it lets mcp-pruner shorten the output. On any fault the output stays. When the model has
// answered, a toast says what was cut; MCP_PRUNER_TELL=off turns that off.

// The session so far, of which mcp-pruner reads these members: what the output is wanted for, what was read and edited, and by
// which tools an agent can get an output back. Of a result it looks at the beginning, of an old one at the first line.
async function session(client, sessionID) {
  try {
    const answer = await client.session.messages({ path: { id: sessionID } })
    let results = 0
    const short = ({ type, text, synthetic, ignored, tool, callID, state }) => {
      if (type !== "tool") return synthetic || ignored ? { type } : { type, text }
      const { status, input, output, error } = state ?? {}
      const most = results++ < 60 ? 4000 : 300
      return { type, tool, callID, state: { status, input, output: output?.slice?.(0, most), error: error?.slice?.(0, most) } }
    }
    const messages = (answer.data ?? []).toReversed().map(({ info, parts }) => ({
      info: { role: info?.role, summary: info?.summary === true },
      parts: (parts ?? []).toReversed().map(short).toReversed(),
    }))
    return { messages: messages.toReversed() }
  } catch {
    return {}
  }
}

export const McpPruner = async ({ client, directory }) => {
  const calls = new Map()
  const shortened = new Set() // sessions with news for the toast
  return {
    "tool.execute.before": async (input, output) => {
      calls.set(input.callID, output?.args)
    },
    "tool.execute.after": async (input, output) => {
      const args = input.args ?? calls.get(input.callID)
      calls.delete(input.callID)
      try {
        const block = Array.isArray(output.content) ? output.content[0] : undefined
        const text = typeof output.output === "string" ? output.output : block?.text
        if (typeof text !== "string" || text.length < shortestOutput) return
        const known = await session(client, input.sessionID)
        const { tool, sessionID, callID } = input
        const exit = output.metadata?.exit
        const { output: shorter } = await ask({ tool, sessionID, callID, args, output: text, exit, ...known })
        if (typeof shorter !== "string" || shorter === "") return
        if (typeof output.output === "string") output.output = shorter
        else block.text = shorter
        shortened.add(sessionID)
      } catch {
        // the output stays as it is
      }
    },
    event: async ({ event }) => {
      const sessionID = event?.properties?.sessionID
      if (event?.type !== "session.idle" || !shortened.delete(sessionID)) return
      try {
        const { message } = await ask({ event: "idle", sessionID, directory })
        if (message) await client.tui.showToast({ body: { message, variant: "info" } })
      } catch {
        // nobody is told
      }
    },
  }
}
