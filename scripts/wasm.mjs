// Compiles src/wire/json/string-end.wat into the file that the code loads.

import { readFileSync, writeFileSync } from 'node:fs'
import { assemble } from '../test/support/assemble.ts'

const folder = new URL('../src/wire/json/', import.meta.url)
const bytes = assemble(readFileSync(new URL('string-end.wat', folder), 'utf8'))
const lines = bytes.toBase64().match(/.{1,80}/g) ?? []
const text = lines.map((line) => `  '${line}'`).join(' +\n')
writeFileSync(
  new URL('string-end-code.ts', folder),
  `// Written by \`npm run wasm\` from string-end.wat; do not edit.\n\nexport const stringEndCode =\n${text}\n`,
)
