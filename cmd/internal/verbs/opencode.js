// Printed by "mcp-pruner gc settings --for opencode"; delete the file to turn it off.
// Before each call of the model it shows a line in the place of old results that the
// planner cleared. On any fault the messages stay as they are.

const worthAsking = 40000 // characters of results

export const McpPrunerGC = async ({ directory }) => ({
  "experimental.chat.messages.transform": async (_input, output) => {
    try {
      const results = output.messages
        .flatMap((m) => m.parts)
        .filter((p) => p.type === "tool" && p.state?.status === "completed" && typeof p.state.output === "string")
      if (results.reduce((sum, p) => sum + p.state.output.length, 0) < worthAsking) return
      const sessionID = output.messages[0]?.info?.sessionID
      const { outputs: shown } = await ask({ event: "messages", sessionID, directory, messages: output.messages })
      if (!shown) return
      for (const part of results) {
        if (typeof shown[part.callID] === "string") part.state.output = shown[part.callID]
      }
    } catch {
      // the messages stay as they are
    }
  },
})
