// Tests the link for the first administrator, its address, and the warning about cookies on plain http.

import { expect, test } from 'bun:test'
import { onEachEngine } from '../../test/contract/engines.ts'
import { loadConfiguration } from '../admin/configuration.ts'
import { hashToken } from '../identity/session-cookie.ts'
import { addressWarnings, browserAddress, firstSignInLink } from './sign-in-link.ts'

const silent = await loadConfiguration({ flags: {}, env: {} })
const at = 'http://127.0.0.1:8787'

onEachEngine('the first link', (start) => {
  test('is printed until it, or one before it, has been used', async () => {
    const { store } = await start()
    await store.deployment.rememberCurrency('USD')
    const links = [await firstSignInLink(store, at, 'USD'), await firstSignInLink(store, at, 'USD')]
    expect(new Set(links).size).toBe(2)
    expect(await store.deployment.address()).toBe(at)
    const token = new URL(links[0] ?? '').searchParams.get('token') ?? ''
    expect(await store.signIns.useLink(hashToken(token), Date.now() + 3_601_000)).toBeNull()
    expect(await store.signIns.useLink(hashToken(token), Date.now())).toBe('default')
    expect(await firstSignInLink(store, at, 'USD')).toBeNull()
  })

  test('is none where its account may not sign in: the server starts all the same', async () => {
    const { store } = await start()
    await store.deployment.rememberCurrency('USD')
    await store.accounts.ensure('default', 1)
    await store.people.change('default', { suspendedAt: 2 })
    expect(await firstSignInLink(store, at, 'USD')).toBeNull()
    await store.people.remove('default', 3)
    expect(await firstSignInLink(store, at, 'USD')).toBeNull()
  })
})

test('browsers are sent where the operator says, else to where this process listens', () => {
  const said = { ...silent, server: { ...silent.server, publicUrl: 'https://gate.example' } }
  expect(browserAddress(said, at)).toBe('https://gate.example')
  expect(browserAddress(silent, 'http://0.0.0.0:80')).toBe('http://127.0.0.1:80')
  expect(browserAddress(silent, 'http://[::]:80')).toBe('http://[::1]:80')
  expect(browserAddress(silent, 'http://10.0.0.7:80')).toBe('http://10.0.0.7:80')
})

test('cookies over plain http are warned of, where people sign in by them', () => {
  const said = (publicUrl: string) => ({ ...silent, server: { ...silent.server, publicUrl } })
  const warned = (address: string) => addressWarnings(said(address), address).length
  expect(warned('http://gate.example')).toBe(1)
  expect(warned('https://gate.example')).toBe(0)
  expect(warned('http://localhost:8787')).toBe(0)
  expect(addressWarnings(silent, 'http://10.0.0.7:80')).toEqual([])
})

test('a public URL with a path is warned of: the console is at its origin', () => {
  const said = (publicUrl: string) => {
    const config = { ...silent, server: { ...silent.server, publicUrl } }
    return addressWarnings(config, browserAddress(config, at))
  }
  expect(said('https://gate.example/llm')).toEqual([
    expect.stringContaining('at https://gate.example/ only'),
  ])
  expect(said('https://Gate.example:443')).toEqual([])
})
