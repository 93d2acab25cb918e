/** Installs what the bench needs: nginx with Lua, HAProxy, wrk and gcc from Debian, Portkey from npm. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PORTKEY_VERSION = '1.15.2'
// Within the range Portkey asks for. With the newest one npm would choose, each stream is answered 500:
// Portkey-AI/gateway#1389.
const PORTKEY_SERVER_VERSION = '1.13.8'
const LUA_MODULE = '/usr/lib/nginx/modules/ngx_http_lua_module.so'
const POLICY = '/usr/sbin/policy-rc.d'

export interface Tools {
  /** Compiled stream client. */
  streams: string
  /** Portkey's server script, or undefined when it could not be installed. */
  portkey: string | undefined
  haproxy: boolean
  /** Columns left out, each with the reason. */
  missing: string[]
  /** Version of each tool, by name. */
  versions: Record<string, string>
}

function has(command: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function absentPackages(): string[] {
  const wanted: [string, boolean][] = [
    ['nginx', has('nginx')],
    ['libnginx-mod-http-lua', existsSync(LUA_MODULE)],
    ['haproxy', has('haproxy')],
    ['wrk', has('wrk')],
    ['gcc', has('gcc')],
    ['libc6-dev', existsSync('/usr/include/stdio.h')],
  ]
  return wanted.filter(([, present]) => !present).map(([name]) => name)
}

function installPackages(names: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  // Debian starts a freshly installed nginx and haproxy unless this file says no (invoke-rc.d(8), code 101).
  const ours = !existsSync(POLICY)
  if (ours) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    execFileSync('apt-get', ['update', '-qq'], { env, stdio: 'inherit' })
    const install = ['install', '-y', '-qq', '--no-install-recommends', ...names]
    execFileSync('apt-get', install, { env, stdio: 'inherit' })
  } finally {
    if (ours) rmSync(POLICY)
  }
}

function installPortkey(folder: string): string {
  const script = join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js')
  if (existsSync(script)) return script
  mkdirSync(folder, { recursive: true })
  const overrides = { '@hono/node-server': PORTKEY_SERVER_VERSION }
  const manifest = { name: 'bench-portkey', private: true, overrides }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest)}\n`)
  // Its only install script looks for a patches folder that the package does not ship.
  const flags = ['--ignore-scripts', '--no-fund', '--no-audit']
  execFileSync('npm', ['install', ...flags, `@portkey-ai/gateway@${PORTKEY_VERSION}`], {
    cwd: folder,
    stdio: 'inherit',
  })
  return script
}

function compileStreams(source: string, program: string): void {
  if (existsSync(program) && statSync(program).mtimeMs > statSync(source).mtimeMs) return
  execFileSync('gcc', ['-O2', '-Wall', '-D_GNU_SOURCE', '-o', program, source], {
    stdio: 'inherit',
  })
}

/** First line that a version command prints, on either stream; wrk exits with 1 after it. */
function version(command: string): string {
  const out = execFileSync('sh', ['-c', `${command} 2>&1 || true`], { encoding: 'utf8' })
  return /\d+\.\d+\.\d+/.exec(out)?.[0] ?? 'unknown'
}

/**
 * Installs what is missing. `cache` is a git-ignored folder for what is not Debian's.
 * A tool that no workload can do without (nginx, wrk, gcc) throws; the others leave their column out.
 */
export function installTools(source: string, cache: string, gateways: string[]): Tools {
  mkdirSync(cache, { recursive: true })
  const missing: string[] = []
  const absent = absentPackages()
  if (absent.length > 0) {
    console.log(`Installing from Debian: ${absent.join(', ')}`)
    try {
      installPackages(absent)
    } catch (error) {
      missing.push(`Debian packages ${absent.join(', ')} not installed: ${error}`)
    }
  }
  const still = absentPackages().filter((name) => name !== 'haproxy')
  if (still.length > 0) throw new Error(`cannot run without ${still.join(', ')}. ${missing}`)
  let portkey: string | undefined
  if (gateways.includes('portkey')) {
    try {
      portkey = installPortkey(join(cache, `portkey-${PORTKEY_VERSION}`))
    } catch (error) {
      missing.push(`Portkey ${PORTKEY_VERSION} not installed from npm: ${error}`)
    }
  }
  const streams = join(cache, 'streams')
  compileStreams(source, streams)
  const versions = {
    Bun: process.versions['bun'] ?? 'unknown',
    Node: version('node --version'),
    nginx: version('nginx -v'),
    HAProxy: has('haproxy') ? version('haproxy -v') : 'absent',
    wrk: version('wrk -v'),
    Portkey: `${PORTKEY_VERSION} (on @hono/node-server ${PORTKEY_SERVER_VERSION})`,
  }
  return { streams, portkey, haproxy: has('haproxy'), missing, versions }
}
