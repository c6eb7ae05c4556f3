'use strict'

const { spawn } = require('child_process')
const os = require('os')
const { optionalDependencies = {} } = require('./package.json')

// find returns the program of this system, which npm installed as an optional
// dependency, or says what is missing.
function find () {
  const name = `@mcp-pruner/${process.platform}-${process.arch}`
  const file = process.platform === 'win32' ? 'mcp-pruner.exe' : 'mcp-pruner'
  try {
    return require.resolve(`${name}/bin/${file}`)
  } catch {
    console.error('mcp-pruner: ' + (name in optionalDependencies
      ? `its package ${name} is missing. Install mcp-pruner again, without --omit=optional or --no-optional.`
      : `there is no package for ${process.platform} on ${process.arch}. The source builds with Go 1.26 or later: go install ./cmd/mcp-pruner`))
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
