// Starts the single program: its first start unpacks its files, then it becomes bin/tollgate, run by the Bun inside it.
import { dlopen, FFIType, ptr } from 'bun:ffi'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import archive from './tree.tar.gz' with { type: 'file' }

const bytes = await Bun.file(archive).bytes()
const tree = await unpacked(join(cacheFolder(), 'tollgate'), Bun.hash(bytes).toString(16))
become('/bin/sh', ['sh', join(tree, 'bin/tollgate'), ...process.argv.slice(2)], {
  ...process.env,
  TOLLGATE_BUN: process.execPath,
  BUN_BE_BUN: '1',
})

/** The cache folder that systemd provides, else the user's. */
function cacheFolder() {
  const { CACHE_DIRECTORY, XDG_CACHE_HOME } = process.env
  return CACHE_DIRECTORY || XDG_CACHE_HOME || join(homedir(), '.cache')
}

/** The folder of this version: complete, even if other processes unpack it at the same time. */
async function unpacked(folder, name) {
  const tree = join(folder, name)
  if (existsSync(tree)) return tree
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const partial = mkdtempSync(join(folder, `${name}-`))
  try {
    await new Bun.Archive(bytes).extract(partial)
    renameSync(partial, tree)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    if (!existsSync(tree)) throw error
  }
  return tree
}

/** Calls execve(2): the process stays the same, so signals and exit codes need not be passed on. Throws on failure. */
function become(program, words, environment) {
  const isMac = process.platform === 'darwin'
  const { execve } = dlopen(isMac ? 'libSystem.dylib' : 'libc.so.6', {
    execve: { args: [FFIType.ptr, FFIType.ptr, FFIType.ptr], returns: FFIType.i32 },
  }).symbols
  const pairs = Object.entries(environment).map(([key, value]) => `${key}=${value}`)
  const texts = []
  const list = (values) => {
    const addresses = values.map((value) => {
      const text = Buffer.from(`${value}\0`)
      texts.push(text)
      return BigInt(ptr(text))
    })
    return new BigUint64Array([...addresses, 0n])
  }
  const [name, argv, env] = [Buffer.from(`${program}\0`), list(words), list(pairs)]
  execve(ptr(name), ptr(argv), ptr(env))
  throw new Error(`${program} cannot be started`)
}
