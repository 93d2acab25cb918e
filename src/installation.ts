// Where this installation's files are, and how to start another thread or process of it: from the sources, or from the
// program that scripts/program.mjs builds of them.

import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

/** The path of files embedded in the program. */
const embedded = '/$bunfs/root'

/** Whether this process is that program. `import.meta.main` is true in it for every module it lists. */
export const isProgram = import.meta.dirname.startsWith(embedded)

/** The folder with package.json. The program is in `dist` below it. */
export const root = isProgram
  ? join(dirname(process.execPath), '..')
  : join(import.meta.dirname, '..')

/** The path of a file other than code, such as `store/migrations`, below src. */
export function sourcePath(path: string): string {
  return join(root, 'src', path)
}

/** Embedded names of modules that are started by their address, by the names of their source files. */
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

/** The address to give to `new Worker` and `import` for a module of the sources. */
export function moduleAt(address: URL | string): URL | string {
  if (!isProgram) return address
  const file = started.get(basename(String(address)))
  if (file === undefined) throw new Error(`${address} is not in the program`)
  return join(embedded, file)
}

/** Loads packages from the disk whose code breaks in strict mode, which applies to all code within the program. */
export const requirePackage = createRequire(join(root, 'package.json'))

/** The words that src/program.ts accepts, and the script of the sources that each stands for. */
const parts = {
  serve: 'main.ts',
  'check-configuration': 'config/apart-main.ts',
  'command-line': 'cli/main.ts',
} as const

/**
 * The arguments with which `process.execPath` starts another process of this installation. `flags` are the runtime's
 * and apply to the sources: the program has its own built in.
 */
export function argumentsFor(
  part: keyof typeof parts,
  words: readonly string[],
  flags: readonly string[] = ['--no-env-file', '--config=/dev/null'],
): readonly string[] {
  return isProgram ? [part, ...words] : [...flags, sourcePath(parts[part]), ...words]
}

/** Variables with which the program runs a script as Bun does; Bun itself ignores them. */
export const runtimeVariables = { BUN_BE_BUN: '1' } as const

/** Makes the system kill the process when its parent is gone, however that ended, and its own children in turn. */
export const endsWithParent = { BUN_FEATURE_FLAG_NO_ORPHANS: '1' } as const
