// Where the files of this installation are, and how another thread or process of it is started: from the sources, or
// from the program that scripts/program.mjs makes of them.

import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

/** What a program has inside it has addresses in here. */
const embedded = '/$bunfs/root'

/** This process is that program. `import.meta.main` is true in there for every module it lists. */
export const isProgram = import.meta.dirname.startsWith(embedded)

/** The folder with package.json. The program is in `dist` below it. */
export const root = isProgram
  ? join(dirname(process.execPath), '..')
  : join(import.meta.dirname, '..')

/** The path of what is no code, such as `store/migrations`, below src. */
export function sourcePath(path: string): string {
  return join(root, 'src', path)
}

/** Where modules that are started by their address stand in the program, by the names of their files. */
const started: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'main.ts': 'main.js',
    'worker-main.ts': 'ledger/worker-main.js',
    'writer-main.ts': 'history/writer-main.js',
    'thread-main.ts': 'store/thread-main.js',
    'archive-thread.ts': 'main/archive-thread.js',
    'export-thread.ts': 'main/export-thread.js',
  }),
)

/** What `new Worker` and `import` are to be given for a module of the sources. */
export function moduleAt(address: URL | string): URL | string {
  if (!isProgram) return address
  const file = started.get(basename(String(address)))
  if (file === undefined) throw new Error(`${address} is not in the program`)
  return join(embedded, file)
}

/** For packages whose code breaks in strict mode, which is what it would be in within the program: read from the disk. */
export const requirePackage = createRequire(join(root, 'package.json'))

/** The words that src/program.ts takes, and the script that is the same from the sources. */
const parts = {
  serve: 'main.ts',
  'check-configuration': 'config/apart-main.ts',
  'command-line': 'cli/main.ts',
} as const

/**
 * What to start `process.execPath` with for another process of this installation. `flags` are the runtime's, for the
 * sources: the program was made with its own.
 */
export function argumentsFor(
  part: keyof typeof parts,
  words: readonly string[],
  flags: readonly string[] = ['--no-env-file', '--config=/dev/null'],
): readonly string[] {
  return isProgram ? [part, ...words] : [...flags, sourcePath(parts[part]), ...words]
}

/** Runs a script with the runtime itself. The variable makes the program behave as Bun; Bun ignores it. */
export const runtimeVariables = { BUN_BE_BUN: '1' } as const

/** The system kills such a process when the one that started it is gone, however it went; so it does what that starts. */
export const endsWithParent = { BUN_FEATURE_FLAG_NO_ORPHANS: '1' } as const
