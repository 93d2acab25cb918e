// Another program on the files of a running server, in a separate process: it reads, copies, or locks them as SQLite
// does.

import { Database } from 'bun:sqlite'

/** `files` are opened one after another, repeatedly for `forMs`; `copies` gets the copies. */
export interface OtherTask {
  readonly does: 'read' | 'vacuum' | 'lock'
  readonly files: readonly string[]
  readonly copies: string
  readonly forMs: number
}

const task = JSON.parse(process.argv[2] ?? '') as OtherTask

function once(file: string, round: number): void {
  const database = new Database(file, { readwrite: true, create: false })
  try {
    database.run('PRAGMA busy_timeout = 5000')
    if (task.does === 'vacuum') database.run('VACUUM INTO ?', [`${task.copies}-${round}`])
    else if (task.does === 'read') database.query('SELECT count(*) FROM sqlite_master').get()
    else {
      database.run('BEGIN IMMEDIATE')
      Bun.sleepSync(task.forMs)
      database.run('COMMIT')
    }
  } finally {
    database.close()
  }
}

const untilMs = performance.now() + task.forMs
let round = 0
do {
  for (const file of task.files) once(file, round++)
} while (performance.now() < untilMs)
