'use strict'

const { spawn } = require('child_process')
const os = require('os')

// find returns the program of this system, which npm installed as an optional
// dependency, or says what is missing.
function find () {
  const name = `@mcp-pruner/${process.platform}-${process.arch}`
  const file = process.platform === 'win32' ? 'mcp-pruner.exe' : 'mcp-pruner'
  try {
    return require.resolve(`${name}/bin/${file}`)
  } catch {
    console.error(`mcp-pruner: ${name} is not installed. There are packages for linux, darwin and win32 on x64 and arm64; ` +
      'npm leaves them out with --omit=optional.')
    process.exit(1)
  }
}

// run runs the program in place of this process: its streams, signals and exit code
// are ours.
exports.run = function (args) {
  const child = spawn(find(), args, { stdio: 'inherit' })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']
  for (const signal of signals) {
    try {
      process.on(signal, () => child.kill(signal))
    } catch {} // not every system has all of them
  }
  child.on('error', (error) => {
    console.error(`mcp-pruner: ${error.message}`)
    process.exit(126)
  })
  child.on('exit', (code, signal) => process.exit(signal ? 128 + (os.constants.signals[signal] || 0) : code))
}
