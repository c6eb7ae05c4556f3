// Written by "mcp-pruner init opencode"; "mcp-pruner init opencode --uninstall" removes it.
// After each tool it lets mcp-pruner shorten the output. On any fault the output stays.
import { spawn } from "node:child_process"

const program = "mcp-pruner"
const patience = 2500 // ms

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
        resolve(JSON.parse(Buffer.concat(chunks).toString("utf8")).output)
      } catch {
        resolve(undefined)
      }
    })
    child.stdin.end(JSON.stringify(message))
  })
}

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
        const shorter = await ask({ tool: input.tool, sessionID: input.sessionID, callID: input.callID, args, output: text, ...known })
        if (typeof shorter !== "string" || shorter === "") return
        if (typeof output.output === "string") output.output = shorter
        else block.text = shorter
      } catch {
        // the output stays as it is
      }
    },
  }
}
