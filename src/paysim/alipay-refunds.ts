// Alipay's refunds: each is made once per the merchant's request number, and queried by it.
import {
  type AlipayCall,
  amountOf,
  businessFault,
  type Fields,
  textOf,
  tradeOf,
} from './alipay-call.ts'
import { digits } from './keys.ts'
import { chinaTime, decimalOf, payerId } from './simulation.ts'
import { type Payment, type Refund, refundableMinor, sumMinor, type Transaction } from './state.ts'

export function refund(call: AlipayCall): Fields {
  const { simulation, content } = call
  const { payment, transaction } = tradeOf(call)
  if (transaction === undefined) throw businessFault('ACQ.TRADE_STATUS_ERROR', '交易状态不合法')
  const amountMinor = amountOf(content, 'refund_amount')
  // A full refund needs no request number.
  const number =
    content['out_request_no'] === undefined
      ? payment.orderId
      : textOf(content, 'out_request_no', 64)
  const known = payment.refunds.find((one) => one.number === number)
  if (known !== undefined) {
    const same = known.amountMinor === amountMinor && known.transactionId === transaction.id
    if (same) return view(payment, transaction, 'N')
    throw businessFault('ACQ.DISCORDANT_REPEAT_REQUEST', '请求信息不一致')
  }
  if (amountMinor > refundableMinor(payment, transaction)) {
    throw businessFault('ACQ.REFUND_AMT_NOT_EQUAL_TOTAL', '退款金额超限')
  }
  const done: Refund = {
    id: digits(28),
    number,
    transactionId: transaction.id,
    amountMinor,
    reason: content['refund_reason'] === undefined ? '' : textOf(content, 'refund_reason', 256),
    at: simulation.clock.now(),
    notifyUrl: payment.notifyUrl,
  }
  payment.refunds.push(done)
  simulation.save()
  void simulation.notify(payment, 'refunded', done.id)
  return view(payment, transaction, 'Y')
}

/** `fund_change` says whether this request moved money. */
function view(payment: Payment, transaction: Transaction, fundChange: 'Y' | 'N'): Fields {
  const buyer = payerId('alipay', transaction.payer)
  const refunds = payment.refunds.filter((one) => one.transactionId === transaction.id)
  const fee = decimalOf(sumMinor(refunds))
  return {
    trade_no: transaction.id,
    out_trade_no: payment.orderId,
    buyer_logon_id: `${buyer.slice(0, 3)}***@payer.example`,
    buyer_user_id: buyer,
    fund_change: fundChange,
    refund_fee: fee,
    send_back_fee: fee,
    gmt_refund_pay: chinaTime(refunds.at(-1)?.at ?? transaction.at),
  }
}

/** Returns no fields where there is no refund of that number. */
export function queryRefund(call: AlipayCall): Fields {
  const { payment, transaction } = tradeOf(call)
  const number = textOf(call.content, 'out_request_no', 64)
  const found = payment.refunds.find((one) => one.number === number)
  if (found === undefined) return {}
  return {
    trade_no: found.transactionId,
    out_trade_no: payment.orderId,
    out_request_no: number,
    total_amount: decimalOf(transaction?.amountMinor ?? payment.amountMinor),
    refund_amount: decimalOf(found.amountMinor),
    refund_reason: found.reason,
    refund_status: 'REFUND_SUCCESS',
    gmt_refund_pay: chinaTime(found.at),
  }
}
