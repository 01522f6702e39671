import type { Duplex } from 'node:stream'
import { unlessAborted } from '@eyrie/kit'
import type { IClientOptions, MqttClient } from 'mqtt'

/** An MQTT client that the broker has accepted. */
export interface OpenMqttClient {
  client: MqttClient
  /**
   * Aborted with the error when the connection is lost. The client then answers nothing, so its
   * calls never resolve.
   */
  lost: AbortController
}

/**
 * Opens an MQTT client on the stream that `openStream` opens to a broker. The client does
 * not reconnect. Rejects with the error of the broker or of the stream, or with the
 * reason of the signal.
 */
export async function openMqttClient(
  openStream: () => Promise<Duplex>,
  options: IClientOptions,
  signal: AbortSignal,
): Promise<OpenMqttClient> {
  // Loaded with the first connection, because many appliances do not use MQTT. The stream is opened
  // afterwards, so that the client handles its errors from the beginning.
  const { MqttClient } = await import('mqtt')
  const stream = await openStream()
  const client = new MqttClient(() => stream, { ...options, clean: true, reconnectPeriod: 0 })

  const lost = new AbortController()
  client.on('close', () => lost.abort(new Error('the broker has closed the connection')))
  client.on('error', error => lost.abort(error))

  try {
    const connected = new Promise<void>(resolve => client.once('connect', () => resolve()))
    await unlessAborted(connected, AbortSignal.any([signal, lost.signal]))
    return { client, lost }
  } catch (error) {
    client.end(true)
    stream.destroy()
    throw error
  }
}
