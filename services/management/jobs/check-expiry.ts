import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Activation, activation } from '@eyrie/contract/activation'
import type { Settings } from '@eyrie/contract/settings'
import type { Log, TlsIdentity } from '@eyrie/kit'
import { readPool } from '@eyrie/license'
import type { z } from 'zod'

const DAY_MS = 86_400_000
/** How long before the end something is reported. */
const WARNING_DAYS = 30

/** A license or a certificate that ends soon, or has ended. */
export interface Ending {
  kind: 'certificate' | 'license'
  /** Epoch ms. */
  endsAt: number
  /** What ends and what to do, as a sentence for the operator. */
  description: string
}

export interface ExpiryOptions {
  /** The certificate of the appliance. */
  tls: TlsIdentity | undefined
  /** The signed licenses of the engine on this machine. */
  licensePool: Settings['engine']['license_pool']
  /** The engine on this machine. */
  engine: { get<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>> }
  now(): number
}

/** Returns the license and the certificates of this appliance that end within 30 days. */
export async function findEndings(options: ExpiryOptions): Promise<Ending[]> {
  const endings = [...findCertificateEnds(options), ...(await findLicenseEnds(options))]
  return endings.filter(({ endsAt }) => endsAt - options.now() < WARNING_DAYS * DAY_MS)
}

function findCertificateEnds({ tls, now }: ExpiryOptions): Ending[] {
  if (!tls) return []
  const endsAt = new X509Certificate(tls.cert).validToDate.getTime()
  const description = `the certificate of EYRIE_TLS_CERT ${describeEnd(endsAt, now())}: replace it, and restart Eyrie`
  return [{ kind: 'certificate', endsAt, description }]
}

async function findLicenseEnds({ licensePool, engine, now }: ExpiryOptions): Promise<Ending[]> {
  if (!licensePool) return []
  const { license }: Activation = await engine.get('/api/v3/activation', activation)
  const pool = readPool(readFileSync(licensePool.file, 'utf8'), licensePool.public_key)
  const entry = pool.find(
    ({ customer, subscription, pool: name }) =>
      customer === license?.customer && subscription === license.subscription && name === license.pool,
  )
  if (!entry?.until) return []
  const endsAt = Date.parse(entry.until)
  const description = `the license ${entry.subscription} of ${entry.customer} ${describeEnd(endsAt, now())}: obtain a new license pool, and set engine.license_pool in eyrie.json`
  return [{ kind: 'license', endsAt, description }]
}

function describeEnd(endsAt: number, now: number): string {
  const date = new Date(endsAt).toISOString().slice(0, 10)
  const days = Math.floor((endsAt - now) / DAY_MS)
  return days < 0 ? `has ended on ${date}` : `ends on ${date}, in ${days} days`
}

/** The job `expiry`, and the alarms of its last run. */
export interface ExpiryCheck {
  run(context: { log: Log }): Promise<string>
  alarms(): string[]
}

export function createExpiryCheck(options: ExpiryOptions): ExpiryCheck {
  let endings: Ending[] = []
  return {
    async run({ log }) {
      endings = await findEndings(options)
      for (const { kind, description } of endings)
        log.warn({ kind, reason: description }, 'validity ends soon')
      return endings.length === 0
        ? `nothing ends within ${WARNING_DAYS} days`
        : endings.map(({ description }) => description).join('; ')
    },
    alarms: () => endings.map(({ description }) => description),
  }
}
