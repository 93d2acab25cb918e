// How to ask each vendor for the balance of an account, and how to read its answer.

import type { JsonObject, JsonValue } from '../wire/ir.ts'
import { isObject, objectsIn } from '../wire/json/value.ts'

export interface VendorBalance {
  /** A decimal, as the vendor reports it; negative if the account owes money. */
  readonly amount: string
  /** Null: the vendor does not report it. */
  readonly currency: string | null
}

interface BalanceQuestion {
  /** The whole URL, from a channel's base address. */
  address(baseUrl: string): string
  /** One balance for each currency; null where the reply has none. */
  read(reply: JsonValue, baseUrl: string): readonly VendorBalance[] | null
}

const questions: ReadonlyMap<string, BalanceQuestion> = new Map(
  Object.entries({
    // api-docs.deepseek.com, "Get User Balance".
    deepseek: {
      address: (baseUrl) => `${baseUrl.replace(/\/(v1|beta|anthropic)$/, '')}/user/balance`,
      read(reply) {
        const infos = isObject(reply) ? objectsIn(reply['balance_infos']) : []
        const found = infos.flatMap(({ total_balance: total, currency }) => {
          const amount = decimalOf(total)
          return amount === null ? [] : [{ amount, currency: textOf(currency) }]
        })
        return found.length === 0 ? null : found
      },
    },
    // platform.moonshot.cn and platform.moonshot.ai, "Check balance": in yuan on .cn, in dollars on .ai.
    moonshot: {
      address: (baseUrl) => `${baseUrl}/users/me/balance`,
      read(reply, baseUrl) {
        const host = new URL(baseUrl).hostname
        const currency = host.endsWith('.cn') ? 'CNY' : host.endsWith('.ai') ? 'USD' : null
        return only(decimalOf(dataOf(reply)?.['available_balance']), currency)
      },
    },
    // openrouter.ai/docs, "Get remaining credits": in dollars; it needs a management key.
    openrouter: {
      address: (baseUrl) => `${baseUrl}/credits`,
      read(reply) {
        const { total_credits: bought, total_usage: used } = dataOf(reply) ?? {}
        if (typeof bought !== 'number' || typeof used !== 'number') return null
        return only(decimalOf(Number((bought - used).toFixed(6))), 'USD')
      },
    },
    // docs.siliconflow.cn, "Get user info": it names no currency.
    siliconflow: {
      address: (baseUrl) => `${baseUrl}/user/info`,
      read: (reply) => only(decimalOf(dataOf(reply)?.['totalBalance']), null),
    },
  }),
)

/** Null where the vendor offers no balance to a channel's key. */
export function balanceOf(vendor: string): BalanceQuestion | null {
  return questions.get(vendor) ?? null
}

function dataOf(reply: JsonValue): JsonObject | null {
  const data = isObject(reply) ? reply['data'] : null
  return isObject(data) ? data : null
}

function only(amount: string | null, currency: string | null): readonly VendorBalance[] | null {
  return amount === null ? null : [{ amount, currency }]
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && /^[A-Z]{3}$/.test(value) ? value : null
}

/** The decimal in a number, or in a text of one; null for anything else. */
function decimalOf(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? text : null
}
