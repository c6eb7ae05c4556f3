#!/usr/bin/env node
'use strict'

require('./program').run(['serve', ...process.argv.slice(2)])
