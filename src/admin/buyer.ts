// Who buys the credit of an account, as its receipts and statements name it: kept among the person's preferences.

import type { PageLanguage } from './printed-page.ts'
import type { Buyer } from './schema-preferences.ts'
import type { AdminContext } from './use-case.ts'

/** null: receipts and statements name the account alone. */
export async function buyerOf(
  { store }: Pick<AdminContext, 'store'>,
  account: string,
): Promise<Buyer | null> {
  const kept = await store.preferences.find(account)
  return ((kept?.document ?? {}) as { readonly buyer?: Buyer | null }).buyer ?? null
}

/** Rows that name the buyer on a printed page. */
export function buyerRows(buyer: Buyer | null, language: PageLanguage): readonly string[][] {
  if (buyer === null) return []
  const [title, taxNumber, address] = buyerLabels[language]
  return [
    [title, buyer.title],
    ...(buyer.taxNumber === '' ? [] : [[taxNumber, buyer.taxNumber]]),
    ...(buyer.address === '' ? [] : [[address, buyer.address]]),
  ]
}

const buyerLabels = {
  en: ['Buyer', 'Tax number', 'Address'],
  'zh-CN': ['购买方', '税号', '地址'],
} as const
