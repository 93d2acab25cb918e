// Tests that every vendor's balance is requested at its address and read in its format.

import { expect, test } from 'bun:test'
import { balanceOf } from './balances.ts'
import { vendors } from './registry.ts'

const infos = [
  { currency: 'CNY', total_balance: '110.00', granted_balance: '10.00' },
  { currency: 'USD', total_balance: '-0.5' },
]
const one = (amount: string, currency: string | null) => [{ amount, currency }]

test.each([
  [
    'deepseek',
    'https://api.deepseek.com/v1',
    'https://api.deepseek.com/user/balance',
    { is_available: true, balance_infos: infos },
    [...one('110.00', 'CNY'), ...one('-0.5', 'USD')],
  ],
  [
    'moonshot',
    'https://api.moonshot.cn/v1',
    'https://api.moonshot.cn/v1/users/me/balance',
    { code: 0, data: { available_balance: 49.58894, cash_balance: 3.00001 } },
    one('49.58894', 'CNY'),
  ],
  [
    'moonshot',
    'https://api.moonshot.ai/v1',
    'https://api.moonshot.ai/v1/users/me/balance',
    { code: 0, data: { available_balance: 1 } },
    one('1', 'USD'),
  ],
  [
    'openrouter',
    'https://openrouter.ai/api/v1',
    'https://openrouter.ai/api/v1/credits',
    { data: { total_credits: 100.5, total_usage: 25.75 } },
    one('74.75', 'USD'),
  ],
  [
    'siliconflow',
    'https://api.siliconflow.cn/v1',
    'https://api.siliconflow.cn/v1/user/info',
    { code: 20000, data: { balance: '0.88', totalBalance: '88.88' } },
    one('88.88', null),
  ],
])('%s at %s', (vendor, baseUrl, address, reply, balance) => {
  expect(Object.keys(vendors)).toContain(vendor)
  const question = balanceOf(vendor)
  expect(question?.address(baseUrl)).toBe(address)
  expect(question?.read(reply, baseUrl)).toEqual(balance)
  for (const other of [null, 'x', 5, [], {}, { data: null }, { data: { totalBalance: 'much' } }])
    expect(question?.read(other, baseUrl)).toBeNull()
})

test('a vendor that offers none has none', () => {
  for (const vendor of ['openai', 'sandbox', 'constructor']) expect(balanceOf(vendor)).toBeNull()
})
