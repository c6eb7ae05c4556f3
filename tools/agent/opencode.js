// Written by "mcp-pruner init opencode"; "mcp-pruner init opencode --uninstall" removes it.
// After each tool it lets mcp-pruner shorten the output. On any fault the output stays. When the model has
// answered, a toast says what was cut; MCP_PRUNER_TELL=off turns that off.

// The agent's last words and the user's last prompt: what the output is wanted for. And the tools that ran: by them an
// agent can get an output back.
async function words(client, sessionID) {
  try {
    const answer = await client.session.messages({ path: { id: sessionID } })
    const parts = (role) => (answer.data ?? []).filter((m) => m.info?.role === role).flatMap((m) => m.parts ?? [])
    const texts = (role) =>
      parts(role)
        .filter((p) => p.type === "text" && p.text)
        .map((p) => p.text)
    const ran = parts("assistant").filter((p) => p.type === "tool" && p.state?.status === "completed")
    return { prompt: texts("user").at(-1), said: texts("assistant").slice(-3), ran: [...new Set(ran.map((p) => p.tool))] }
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
        const known = await words(client, input.sessionID)
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
