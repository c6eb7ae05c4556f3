#!/usr/bin/env node
'use strict'

require('./program').run(process.argv.slice(2))
