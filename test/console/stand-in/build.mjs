// In place of the console's own build: notes that it ran, waits where it is told to, and writes a console of three files.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const to = process.argv[process.argv.indexOf('--outDir') + 1]
const tests = '../tmp'
appendFileSync(join(tests, 'builds'), `${process.pid}\n`)
// A FIFO: read to its end once somebody has written to it.
if (existsSync(join(tests, 'gate'))) readFileSync(join(tests, 'gate'))
const title = readFileSync('title.txt', 'utf8').trim()
if (title.startsWith('broken')) throw new Error(`no console of <b>${title}</b>`)
mkdirSync(join(to, 'assets'), { recursive: true })
const head = `<!doctype html>\n<title>${title}</title>\n<link rel="icon" href="/console/icon.svg">\n`
const page = head + '<p>text</p>\n'.repeat(50)
writeFileSync(join(to, 'index.html'), page)
writeFileSync(join(to, 'assets/main-abc.js'), '// nothing\n'.repeat(100))
writeFileSync(join(to, 'assets/main-abc.css'), 'p { margin: 0 }\n'.repeat(100))
writeFileSync(join(to, 'assets/letters-abc.woff2'), new Uint8Array(64).fill(7))
writeFileSync(join(to, 'icon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
writeFileSync(join(to, 'manifest.json'), '{}')
