// Stores a person's preferences with the account, so that other browsers have them too: the newest choice wins.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { change, get, Problem, read, type Shape } from '../api/client.ts'
import { viewedAccount } from '../api/viewing.ts'
import { showLanguage } from '../i18n.ts'
import { applyColumns, type ColumnChoice, columnChoices } from '../state/columns.ts'
import { kept, onChanged, setKept } from '../state/kept.ts'
import { applyPreferences, preferences } from '../state/preferences.ts'

type Document = Shape<'Preferences'>

const path = '/api/me/preferences'
const pauseMs = 500
const mostTries = 3

/** Of all preferences, those that are stored with the account. */
export function chosenHere() {
  const { language, theme, density, timeZone } = preferences()
  return { language, theme, density, timeZone, columns: columnChoices() }
}

/** `account`: who is signed in; undefined: nobody. */
export function useKeptPreferences(account: string | undefined): void {
  const client = useQueryClient()
  const enabled = account !== undefined && viewedAccount() === null
  const { data } = useQuery({ ...read(path), enabled, staleTime: 30_000 })

  useEffect(() => {
    if (account === undefined || data === undefined) return
    const { account: whose, revision, changed } = kept()
    if (whose === account && changed) return void keep(account, data)
    if (whose === account && revision === data.revision) return
    take(data)
    setKept({ account, revision: data.revision, changed: false })
  }, [account, data])

  useEffect(() => {
    if (!enabled || account === undefined) return
    let timer: ReturnType<typeof setTimeout> | undefined
    const later = () => {
      clearTimeout(timer)
      timer = setTimeout(() => {
        const known = client.getQueryData<Document>(read(path).queryKey)
        if (known !== undefined) void keep(account, known)
      }, pauseMs)
    }
    const end = onChanged(later)
    return () => {
      end()
      clearTimeout(timer)
    }
  }, [account, enabled, client])

  async function keep(whose: string, known: Document): Promise<void> {
    let chosen = chosenHere()
    try {
      const now = await changePreferences(() => {
        chosen = chosenHere()
        return chosen
      }, known)
      const isNewest = JSON.stringify(chosen) === JSON.stringify(chosenHere())
      setKept({ account: whose, revision: now.revision, changed: !isNewest })
      client.setQueryData(read(path).queryKey, now)
    } catch {
      // A choice that cannot be stored now is stored when the preferences are read again.
    }
  }
}

/**
 * Preferences are replaced as a whole. If another window, or the timer above, changed them since they were read, they
 * are read again and `alter` is applied to the result. Throws Problem.
 */
export async function changePreferences(
  alter: (before: Document) => Partial<Document>,
  known?: Document,
): Promise<Document> {
  let before = known ?? (await get(path))
  for (let tries = 1; ; tries += 1) {
    const { revision, ...body } = { ...before, ...alter(before) }
    try {
      return await change('put', path, { body, ifMatch: revision })
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 412 || tries === mostTries) throw error
    }
    before = await get(path)
  }
}

/** Preferences that the account has never set stay as they are here. */
function take({ revision, language, theme, density, timeZone, columns }: Document): void {
  if (revision === 0) return
  const before = preferences().language
  applyPreferences({ theme, density, timeZone, ...(language !== null && { language }) })
  applyColumns(columns as Readonly<Record<string, ColumnChoice>>)
  if (preferences().language !== before) void showLanguage()
}
