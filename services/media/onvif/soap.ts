import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { digestAuthorization, type Login, usernameToken } from './ws-security.ts'
import { allAt, firstAt, readXml, textAt, type Xml } from './xml.ts'

/** A device that is asked by SOAP. */
export interface SoapPeer {
  login: Login | undefined
  tlsInsecure: boolean
  /** The device's time, in ms since 1970. */
  deviceNow(): number
  /** Fires when there is no time left. */
  signal: AbortSignal
}

/** The device answers, but not with what it was asked for. */
export class SoapFault extends Error {
  override readonly name = 'SoapFault'
  readonly kind: 'refused' | 'unsupported' | 'not-onvif'

  constructor(kind: SoapFault['kind'], reason: string) {
    super(reason)
    this.kind = kind
  }
}

const MOST_ANSWER_BYTES = 1 << 20
const ENVELOPE = 'http://www.w3.org/2003/05/soap-envelope'

/** Asks one operation and answers the body's content. Throws SoapFault, or the error of the connection. */
export async function call(url: URL, body: string, peer: SoapPeer): Promise<Xml> {
  const { login } = peer
  const header = login ? `<s:Header>${usernameToken(login, peer.deviceNow())}</s:Header>` : ''
  const message = `<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="${ENVELOPE}">${header}<s:Body>${body}</s:Body></s:Envelope>`
  let answer = await post(url, message, undefined, peer)
  const challenge = login && answer.status === 401 && challengeIn(answer)
  const authorization =
    challenge && digestAuthorization(challenge, { method: 'POST', path: url.pathname + url.search }, login)
  if (authorization) answer = await post(url, message, authorization, peer)
  return bodyOf(answer)
}

interface Answer {
  status: number
  text: string
  challenges: string[]
}

const challengeIn = ({ challenges }: Answer) => challenges.find(each => /^Digest /i.test(each))

async function post(
  url: URL,
  message: string,
  authorization: string | undefined,
  peer: SoapPeer,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const request: ClientRequest = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method: 'POST',
    agent: false,
    signal: peer.signal,
    rejectUnauthorized: !peer.tlsInsecure,
    headers: {
      'Content-Type': 'application/soap+xml; charset=utf-8',
      'Content-Length': Buffer.byteLength(message),
      ...(authorization && { Authorization: authorization }),
    },
  })
  request.on('response', resolve).on('error', reject).end(message)
  const response = await promise
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of response as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > MOST_ANSWER_BYTES) {
      throw new SoapFault('not-onvif', `answers with more than ${MOST_ANSWER_BYTES} bytes`)
    }
    parts.push(part)
  }
  return {
    status: response.statusCode ?? 0,
    text: Buffer.concat(parts).toString(),
    challenges: response.headersDistinct['www-authenticate'] ?? [],
  }
}

function bodyOf({ status, text }: Answer): Xml {
  if (status === 401 || status === 403) throw refused()
  let xml: Xml
  try {
    xml = readXml(text)
  } catch (error) {
    const what = status === 200 ? (error as Error).message : `it answers ${status}`
    throw new SoapFault('not-onvif', `does not speak ONVIF here: ${what}`)
  }
  const body = firstAt(xml, 'Envelope', 'Body')
  if (!body) throw new SoapFault('not-onvif', 'does not speak ONVIF here: it answers no SOAP')
  const fault = firstAt(body, 'Fault')
  if (!fault) return body
  const codes = JSON.stringify(allAt(fault, 'Code'))
  if (/NotAuthorized|FailedAuthentication|FailedCheck|InvalidSecurity/i.test(codes)) throw refused()
  const reason = textAt(fault, 'Reason', 'Text') ?? textAt(fault, 'faultstring') ?? 'it does not say why'
  throw new SoapFault('unsupported', `refuses what it was asked: ${reason}`)
}

const refused = () =>
  new SoapFault('refused', 'refuses the user name or password: correct them, as a user that ONVIF may use')
