// A request to Alipay's gateway: its parameters, its trade, and its errors in Alipay's words.
import type { Incoming, Simulation } from './simulation.ts'
import type { Payment, Transaction } from './state.ts'

export interface AlipayCall {
  readonly simulation: Simulation
  readonly request: Incoming
  readonly parameters: ReadonlyMap<string, string>
  /** The parsed JSON of `biz_content`. */
  readonly content: Readonly<Record<string, unknown>>
}

export type Fields = Readonly<Record<string, unknown>>

/** Returns the reply to a method, without its `code` and `msg`. */
export type AlipayMethod = (call: AlipayCall) => Fields

export class AlipayFault extends Error {
  readonly code: string
  readonly subCode: string

  /** `message`: the `sub_msg`. */
  constructor(code: keyof typeof faultTexts, subCode: string, message: string) {
    super(message)
    this.code = code
    this.subCode = subCode
  }
}

export const faultTexts = {
  '20000': 'Service Currently Unavailable',
  '40001': 'Missing Required Arguments',
  '40002': 'Invalid Arguments',
  '40004': 'Business Failed',
} as const

export function businessFault(subCode: string, message: string): AlipayFault {
  return new AlipayFault('40004', subCode, message)
}

/** A text of 1 to `longest` characters. */
export function textOf(content: Fields, name: string, longest: number): string {
  const value = content[name]
  if (typeof value === 'string' && value !== '' && value.length <= longest) return value
  throw businessFault('ACQ.INVALID_PARAMETER', `参数无效：${name}`)
}

/** Converts an amount in yuan with at most two decimals to fen. Accepts texts and JSON numbers. */
export function amountOf(content: Fields, name: string): number {
  const text = String(content[name])
  const minor = /^\d{1,9}(\.\d{1,2})?$/.test(text) ? Math.round(Number(text) * 100) : 0
  if (minor > 0) return minor
  throw businessFault('ACQ.INVALID_PARAMETER', `参数无效：${name}`)
}

interface Trade {
  readonly payment: Payment
  /** The trade's own number, which exists before it is paid. */
  readonly number: string
  /** Undefined where the trade is not paid. */
  readonly transaction: Transaction | undefined
}

/** Finds a trade by `trade_no`, else by `out_trade_no`. A trade exists once a payer has opened its page. */
export function tradeOf({ simulation, content }: AlipayCall): Trade {
  const { trade_no: number, out_trade_no: orderId } = content
  const payment = simulation.state.payments.find((one) => {
    if (one.provider !== 'alipay' || !one.opened) return false
    if (number === undefined) return one.orderId === orderId
    return one.id === number || one.transactions.some(({ id }) => id === number)
  })
  if (payment === undefined) throw businessFault('ACQ.TRADE_NOT_EXIST', '交易不存在')
  const { id, transactions } = payment
  const transaction = transactions.find((one) => one.id === (number ?? id))
  return { payment, number: transaction?.id ?? id, transaction }
}
