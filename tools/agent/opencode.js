// Written by "mcp-pruner init opencode"; "mcp-pruner init opencode --uninstall" removes it.
// After each tool it lets mcp-pruner shorten the output. On any fault the output stays.

// The agent's last words and the user's last prompt: what the output is wanted for.
async function words(client, sessionID) {
  try {
    const answer = await client.session.messages({ path: { id: sessionID } })
    const texts = (role) =>
      (answer.data ?? [])
        .filter((m) => m.info?.role === role)
        .flatMap((m) => m.parts ?? [])
        .filter((p) => p.type === "text" && p.text)
        .map((p) => p.text)
    return { prompt: texts("user").at(-1), said: texts("assistant").slice(-3) }
  } catch {
    return {}
  }
}

export const McpPruner = async ({ client }) => {
  const calls = new Map()
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
        if (typeof text !== "string" || text.length < 2000) return
        const known = await words(client, input.sessionID)
        const { tool, sessionID, callID } = input
        const exit = output.metadata?.exit
        const { output: shorter } = await ask({ tool, sessionID, callID, args, output: text, exit, ...known })
        if (typeof shorter !== "string" || shorter === "") return
        if (typeof output.output === "string") output.output = shorter
        else block.text = shorter
      } catch {
        // the output stays as it is
      }
    },
  }
}
