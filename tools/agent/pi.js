// Written by "mcp-pruner init pi"; "mcp-pruner init pi --uninstall" removes it.
// After each tool it lets mcp-pruner shorten the output. On any fault the output stays.

export default function (pi) {
  pi.on("tool_result", async (event, ctx) => {
    try {
      const block = event.content?.length === 1 ? event.content[0] : undefined
      if (block?.type !== "text" || block.text.length < shortestOutput) return
      const { output } = await ask({
        tool: event.toolName,
        call: event.toolCallId,
        args: event.input,
        output: block.text,
        session: ctx.sessionManager?.getSessionId?.(),
        transcript: ctx.sessionManager?.getSessionFile?.(),
        directory: ctx.cwd,
      })
      if (typeof output !== "string" || output === "") return
      return { content: [{ ...block, text: output }] }
    } catch {
      // the output stays as it is
    }
  })
}
