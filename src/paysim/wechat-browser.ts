// WeChat's built-in browser from a page's view: identifies the customer, and pays when the page's script asks for it.
import { createHash, randomBytes, verify } from 'node:crypto'
import type { Keys } from './keys.ts'
import { type Incoming, payerId, type Simulation } from './simulation.ts'
import type { Payment } from './state.ts'

export interface WechatAccount {
  readonly appid: string
  readonly secret: string
  readonly authorizeUrl: string
  readonly baseUrl: string
}

type WechatKeys = Keys['wechatpay']

/** Derived from the merchant's keys, so that it need not be stored. */
export function wechatAccount({ appid, apiV3Key }: WechatKeys, baseUrl: string): WechatAccount {
  const hash = createHash('sha256').update(`${appid} ${apiV3Key}`).digest('hex')
  return {
    appid: `wx${hash.slice(0, 16)}`,
    secret: hash.slice(16, 48),
    authorizeUrl: `${baseUrl}/connect/oauth2/authorize`,
    baseUrl,
  }
}

const usualPayer = 'Wang Fang'
const codeMs = 5 * 60_000

type Pay = (payment: Payment, payer: string) => Promise<void>

/** Answers requests to WeChat; undefined where the path is not one of them. */
export function createWechatBrowser(simulation: Simulation, pay: Pay) {
  const account = wechatAccount(simulation.state.keys.wechatpay, simulation.baseUrl)
  const codes = new Map<string, { readonly payer: string; readonly until: number }>()

  /** Authorizes without asking the customer, like the scope `snsapi_base`. */
  function authorize({ query }: Incoming): Response {
    const uri = query.get('redirect_uri') ?? ''
    const isRight =
      query.get('appid') === account.appid &&
      query.get('response_type') === 'code' &&
      query.get('scope') === 'snsapi_base' &&
      URL.canParse(uri)
    if (!isRight) return new Response('redirect_uri 参数错误', { status: 400 })
    const code = randomBytes(16).toString('hex')
    codes.set(code, { payer: usualPayer, until: simulation.clock.now() + codeMs })
    const back = new URL(uri)
    back.searchParams.set('code', code)
    back.searchParams.set('state', query.get('state') ?? '')
    return new Response(null, { status: 302, headers: { location: back.href } })
  }

  /** A code can be exchanged only once. */
  function exchange({ query }: Incoming): Response {
    if (query.get('appid') !== account.appid || query.get('secret') !== account.secret)
      return Response.json({ errcode: 40125, errmsg: 'invalid appsecret' })
    const code = query.get('code') ?? ''
    const known = codes.get(code)
    codes.delete(code)
    if (known === undefined || known.until <= simulation.clock.now())
      return Response.json({ errcode: 40163, errmsg: 'code been used' })
    const openid = payerId('wechatpay', known.payer)
    return Response.json({
      access_token: randomBytes(16).toString('hex'),
      openid,
      expires_in: 7200,
    })
  }

  /** Performs `getBrandWCPayRequest`: pays if the merchant has signed the request. */
  async function invoke({ body }: Incoming): Promise<Response> {
    const given = JSON.parse(body) as Record<string, string>
    const { appId, timeStamp, nonceStr, signType, paySign = '' } = given
    const prepay = given['package'] ?? ''
    const text = `${appId}\n${timeStamp}\n${nonceStr}\n${prepay}\n`
    const { publicKey } = simulation.state.keys.wechatpay.merchant
    const isSigned = verify('sha256', Buffer.from(text), publicKey, Buffer.from(paySign, 'base64'))
    const payment = simulation.state.payments.find((one) => `prepay_id=${one.id}` === prepay)
    const isRight = isSigned && signType === 'RSA' && appId === account.appid
    if (!isRight || payment?.product !== 'jsapi' || payment.transactions.length > 0)
      return resultOf('fail')
    await pay(payment, usualPayer)
    return resultOf('ok')
  }

  return async (request: Incoming): Promise<Response | undefined> => {
    switch (`${request.method} ${request.path}`) {
      case 'GET /connect/oauth2/authorize':
        return authorize(request)
      case 'GET /sns/oauth2/access_token':
        return exchange(request)
      case 'POST /wechat-browser':
        return invoke(request)
      default:
        return undefined
    }
  }
}

function resultOf(how: 'ok' | 'fail'): Response {
  return Response.json({ err_msg: `get_brand_wcpay_request:${how}` })
}
