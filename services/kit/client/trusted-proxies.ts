import { BlockList, isIP } from 'node:net'
import { z } from 'zod'
import { addSubnet } from '../egress/address-kind.ts'
import { includesAddress } from './plain-address.ts'

/** The reverse proxies whose headers about their clients are believed. */
export interface TrustedProxies {
  includes(address: string): boolean
}

export const NO_TRUSTED_PROXIES: TrustedProxies = { includes: () => false }

const FORMAT =
  'expected addresses and networks such as 127.0.0.1 or 10.0.0.0/24, separated by commas'

/** Parses the value of EYRIE_TRUSTED_PROXIES. */
export const trustedProxies = z.string().transform((text, context): TrustedProxies => {
  const list = new BlockList()
  for (const entry of text.split(/[,\s]+/).filter(Boolean)) {
    if (!tryAdd(list, entry)) context.addIssue({ code: 'custom', message: `${entry}: ${FORMAT}` })
  }
  return { includes: address => isIP(address) !== 0 && includesAddress(list, address) }
})

function tryAdd(list: BlockList, entry: string): boolean {
  const [address = '', prefix] = entry.split('/')
  if (!isIP(address) || (prefix !== undefined && !/^\d{1,3}$/.test(prefix))) return false
  try {
    addSubnet(list, entry)
    return true
  } catch {
    // The prefix is longer than the address.
    return false
  }
}
