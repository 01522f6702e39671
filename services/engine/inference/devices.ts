import type { ModelRequest } from '@eyrie/element'
import type { Provider } from '@eyrie/model-store/session'

type DeviceType = Exclude<ModelRequest['hw'], 'auto'>

/** Devices by what ONNX Runtime calls them, the best first. No provider in use serves an integrated GPU. */
const devices: readonly { type: DeviceType; provider: Provider }[] = [
  { type: 'gpu', provider: 'cuda' },
  { type: 'cpu', provider: 'cpu' },
]

/** The devices that the providers present stand for. */
export const typesOf = (providers: readonly Provider[]) =>
  devices.filter(({ provider }) => providers.includes(provider))

/** The provider for a device asked for, or for the best one present. Throws if the device is not there. */
export function providerOf(hw: ModelRequest['hw'], providers: readonly Provider[]): Provider {
  const present = typesOf(providers)
  const device = hw === 'auto' ? present[0] : present.find(({ type }) => type === hw)
  if (device) return device.provider
  const there = present.map(({ type }) => type).join(', ')
  throw new Error(
    `this machine has no ${hw} that models can run on; there is: ${there}. Use hw auto or one of these`,
  )
}

/** The type of the device that a provider stands for. */
export const deviceOf = (provider: Provider) => devices.find(device => device.provider === provider)!.type
