// WeChat Pay's refunds: made once per the merchant's number, queried by it, and reported in a notification.
import { digits } from './keys.ts'
import { payerId } from './simulation.ts'
import { type Payment, type Refund, refundableMinor } from './state.ts'
import {
  integerOf,
  recordOf,
  textOf,
  timeText,
  type WechatpayCall,
  WechatpayFault,
  type WechatpayReply,
} from './wechatpay-call.ts'

export function createRefund({ simulation, body }: WechatpayCall): WechatpayReply {
  const { state, clock } = simulation
  const amount = recordOf(body['amount'], 'amount')
  const number = textOf(body, 'out_refund_no', 64)
  const amountMinor = integerOf(amount, 'refund', 'amount.refund')
  const { payment, transaction } = paidOrder(simulation.state.payments, body)
  if (integerOf(amount, 'total', 'amount.total') !== transaction.amountMinor) {
    throw new WechatpayFault(
      400,
      'INVALID_REQUEST',
      '订单金额或退款金额与之前请求不一致，请核实后再试',
    )
  }
  const known = refundOf(state.payments, number)?.refund
  if (known !== undefined) {
    if (known.amountMinor === amountMinor && payment.refunds.includes(known)) {
      return { status: 200, body: refundView(payment, known) }
    }
    throw new WechatpayFault(
      400,
      'INVALID_REQUEST',
      '订单金额或退款金额与之前请求不一致，请核实后再试',
    )
  }
  if (amountMinor > refundableMinor(payment, transaction)) {
    throw new WechatpayFault(403, 'NOT_ENOUGH', '申请退款金额大于可退金额')
  }
  const refund: Refund = {
    id: `503${digits(25)}`,
    number,
    transactionId: transaction.id,
    amountMinor,
    reason: body['reason'] === undefined ? '' : textOf(body, 'reason', 80),
    at: clock.now(),
    notifyUrl: body['notify_url'] === undefined ? '' : textOf(body, 'notify_url', 256),
  }
  payment.refunds.push(refund)
  simulation.save()
  if (refund.notifyUrl !== '') void simulation.notify(payment, 'refunded', refund.id)
  // The provider first reports `PROCESSING`; a later query returns the completed refund.
  return { status: 200, body: { ...refundView(payment, refund), status: 'PROCESSING' } }
}

export function queryRefund({ simulation, caught: [number = ''] }: WechatpayCall): WechatpayReply {
  const found = refundOf(simulation.state.payments, number)
  if (found === undefined) throw new WechatpayFault(404, 'RESOURCE_NOT_EXISTS', '退款单不存在')
  return { status: 200, body: refundView(found.payment, found.refund) }
}

export function refundView(payment: Payment, refund: Refund) {
  const transaction = payment.transactions.find(({ id }) => id === refund.transactionId)
  const total = transaction?.amountMinor ?? 0
  return {
    refund_id: refund.id,
    out_refund_no: refund.number,
    transaction_id: refund.transactionId,
    out_trade_no: payment.orderId,
    channel: 'ORIGINAL',
    user_received_account: payerId('wechatpay', transaction?.payer ?? ''),
    success_time: timeText(refund.at),
    create_time: timeText(refund.at),
    status: 'SUCCESS',
    funds_account: 'UNSETTLED',
    amount: {
      total,
      refund: refund.amountMinor,
      payer_total: total,
      payer_refund: refund.amountMinor,
      settlement_total: total,
      settlement_refund: refund.amountMinor,
      discount_refund: 0,
      currency: payment.currency,
    },
  }
}

function refundOf(payments: readonly Payment[], number: string) {
  for (const payment of payments) {
    if (payment.provider !== 'wechatpay') continue
    const refund = payment.refunds.find((one) => one.number === number)
    if (refund !== undefined) return { payment, refund }
  }
  return undefined
}

/** Finds a paid order by the provider's transaction number, else by the merchant's order number. */
function paidOrder(payments: readonly Payment[], body: WechatpayCall['body']) {
  const byTransaction = body['transaction_id'] !== undefined
  const name = byTransaction ? 'transaction_id' : 'out_trade_no'
  const number = textOf(body, name, 32)
  for (const payment of payments) {
    if (payment.provider !== 'wechatpay') continue
    if (!byTransaction && payment.orderId !== number) continue
    const transaction = byTransaction
      ? payment.transactions.find(({ id }) => id === number)
      : payment.transactions[0]
    if (transaction !== undefined) return { payment, transaction }
  }
  throw new WechatpayFault(404, 'RESOURCE_NOT_EXISTS', '订单不存在')
}
