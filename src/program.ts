// The entry point of the program that scripts/program.mjs builds: starts the server, the command line, or a part of
// them.

import { argv } from 'node:process'

const [part = '', ...words] = argv.slice(2)

if (part === 'serve') await (await import('./main.ts')).main(words)
else if (part === 'check-configuration') await import('./config/apart-main.ts')
else if (part === 'command-line') await (await import('./cli/main.ts')).main(words)
else throw new Error(`${part}: unknown part; the program is started by bin/tollgate`)
