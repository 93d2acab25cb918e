// Writes a notice as a plain-text mail in its recipient's language.

import { formatUnits } from '../money.ts'
import type { AlertNotice } from '../store/alerts.ts'
import type { NoticeFacts } from './notice.ts'

type MailLanguage = 'en' | 'zh-CN'

/** The language of the account's preferences; English where they set none. */
export function languageOf(preferences: unknown): MailLanguage {
  const { language } = (preferences ?? {}) as { readonly language?: unknown }
  return language === 'zh-CN' ? language : 'en'
}

interface Words {
  readonly subject: string
  readonly text: string
}

type Worded = Record<MailLanguage, (facts: NoticeFacts, money: Money) => Words>

interface Money {
  readonly value: string
  readonly limit: string
}

const worded: Record<NoticeFacts['rule'], Worded> = {
  low_balance: {
    en: (_, { value, limit }) => ({
      subject: 'Your balance is low',
      text: `${value} is left in your account, less than ${limit}.`,
    }),
    'zh-CN': (_, { value, limit }) => ({
      subject: '账户余额不足',
      text: `您的账户余额为 ${value}，已低于 ${limit}。`,
    }),
  },
  day_spend: {
    en: (_, { value, limit }) => ({
      subject: 'More was spent today than you set',
      text: `${value} was spent today, more than ${limit}.`,
    }),
    'zh-CN': (_, { value, limit }) => ({
      subject: '今日消费超出设定',
      text: `今日已消费 ${value}，超过 ${limit}。`,
    }),
  },
  key_limit: {
    en: ({ keyName, valuePercent }, { limit }) => ({
      subject: 'A key is near its limit',
      text: `The key ${keyName} has spent ${valuePercent} % of its limit of ${limit}.`,
    }),
    'zh-CN': ({ keyName, valuePercent }, { limit }) => ({
      subject: '密钥即将达到额度',
      text: `密钥 ${keyName} 已使用其额度 ${limit} 的 ${valuePercent}%。`,
    }),
  },
  error_rate: {
    en: ({ valuePercent, requests }) => ({
      subject: 'Many requests fail',
      text: `${valuePercent} % of ${requests} requests failed within the last hour.`,
    }),
    'zh-CN': ({ valuePercent, requests }) => ({
      subject: '请求失败率偏高',
      text: `最近一小时内 ${requests} 个请求中有 ${valuePercent}% 失败。`,
    }),
  },
  order_late: {
    en: ({ orderId }, { value }) => ({
      subject: 'A late payment was credited',
      text: `Your payment of order ${orderId} came after the order had ended. ${value} was credited all the same.`,
    }),
    'zh-CN': ({ orderId }, { value }) => ({
      subject: '延迟的付款已入账',
      text: `订单 ${orderId} 的付款在订单结束后才到账，仍已为您入账 ${value}。`,
    }),
  },
  order_refunded: {
    en: ({ orderId }, { value }) => ({
      subject: 'A refund was paid',
      text: `${value} of order ${orderId} was refunded by the way it was paid.`,
    }),
    'zh-CN': ({ orderId }, { value }) => ({
      subject: '退款已完成',
      text: `订单 ${orderId} 已原路退回 ${value}。`,
    }),
  },
  top_up_stopped: {
    en: (_, { value }) => ({
      subject: 'Automatic top-up is off',
      text: `Your bank did not let an automatic top-up of ${value} be paid, so no other is tried. To turn it on again, open Billing; with another card, agree anew there first.`,
    }),
    'zh-CN': (_, { value }) => ({
      subject: '自动充值已停用',
      text: `银行拒绝了 ${value} 的自动充值，系统不会再次尝试。如需重新启用，请前往“账单”页面；如需更换银行卡，请先在该页面重新授权。`,
    }),
  },
}

/** `address`: the console's address, without a slash at its end. */
export function noticeMail(
  notice: Pick<AlertNotice, 'document'>,
  language: MailLanguage,
  address: string,
): Words {
  const facts = notice.document as NoticeFacts
  const money = (nano: string | null) =>
    nano === null ? '' : `${formatUnits(BigInt(nano))} ${facts.currency}`
  const amounts = { value: money(facts.valueNano), limit: money(facts.limitNano) }
  const { subject, text } = worded[facts.rule][language](facts, amounts)
  return { subject, text: `${text}\n\n${ends[language](address)}\n` }
}

const ends: Record<MailLanguage, (address: string) => string> = {
  en: (address) =>
    `${address}/console/billing\nWhat you are told is chosen at ${address}/console/settings?tab=alerts`,
  'zh-CN': (address) =>
    `${address}/console/billing\n通知设置：${address}/console/settings?tab=alerts`,
}

/** The mail with the code that proves that mail to the address is read. */
export function codeMail(code: string, language: MailLanguage, address: string): Words {
  const text = {
    en: `Somebody wants what ${address} warns of to be sent here. If that is you, enter this code in the settings within a day:\n\n${code}\n\nIf not, do nothing: no other mail will come.\n`,
    'zh-CN': `有人希望将 ${address} 的通知发送到此邮箱。如果是您本人，请在一天内在设置中输入以下验证码：\n\n${code}\n\n如果不是，请忽略此邮件，不会再有其他邮件。\n`,
  }
  const subject = { en: 'Confirm this address', 'zh-CN': '确认邮箱地址' }
  return { subject: subject[language], text: text[language] }
}
