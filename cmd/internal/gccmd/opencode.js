// Printed by "mcp-pruner gc settings --for opencode"; delete the file to turn it off.
// Before each call of the model it shows a line in the place of old results that the
// planner cleared. On any fault the messages stay as they are.
import { spawn } from "node:child_process"

const program = "mcp-pruner"
const patience = 2500 // ms
const worthAsking = 40000 // characters of results

function ask(message) {
  return new Promise((resolve) => {
    const child = spawn(program, ["hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill("SIGKILL"), patience)
    const chunks = []
    child.on("error", () => resolve(undefined))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk) => chunks.push(chunk))
    child.on("close", () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(Buffer.concat(chunks).toString("utf8")).outputs)
      } catch {
        resolve(undefined)
      }
    })
    child.stdin.end(JSON.stringify(message))
  })
}

export const McpPrunerGC = async ({ directory }) => ({
  "experimental.chat.messages.transform": async (_input, output) => {
    try {
      const results = output.messages
        .flatMap((m) => m.parts)
        .filter((p) => p.type === "tool" && p.state?.status === "completed" && typeof p.state.output === "string")
      if (results.reduce((sum, p) => sum + p.state.output.length, 0) < worthAsking) return
      const sessionID = output.messages[0]?.info?.sessionID
      const shown = await ask({ event: "messages", sessionID, directory, messages: output.messages })
      if (!shown) return
      for (const part of results) {
        if (typeof shown[part.callID] === "string") part.state.output = shown[part.callID]
      }
    } catch {
      // the messages stay as they are
    }
  },
})
