import type { PushSubscription as StoredSubscription } from '@eyrie/contract/management/index'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { callOperation } from '../api/api-request.ts'
import { capitalize } from '../ui/format.ts'

const WORKER_PATH = '/push-worker.js'
/**
 * Key in the local storage under which the id of this browser's subscription is stored. It equals
 * the path of the worker, because browsers have stored their ids under it.
 */
const SUBSCRIPTION_KEY = '/push-worker.js'

/** Switches messages about alerts on and off in this browser. */
export function PushSwitch() {
  const isOn = useSignal<boolean | undefined>(undefined)
  const isBusy = useSignal(false)
  const error = useSignal('')
  const isSupported = 'serviceWorker' in navigator && 'PushManager' in window

  useEffect(() => {
    if (isSupported) void run(isSubscribed)
  }, [])

  /** Does work that returns whether messages are on, and shows the result or the error. */
  async function run(work: () => Promise<boolean>) {
    isBusy.value = true
    error.value = ''
    try {
      isOn.value = await work()
    } catch (failure) {
      error.value = capitalize((failure as Error).message)
    } finally {
      isBusy.value = false
    }
  }

  if (!isSupported) {
    return <p>This browser cannot show messages here: open the console at an address with https.</p>
  }
  return (
    <>
      <p>Shows the alerts of your channels in this browser, also while the console is closed.</p>
      <label class="switch">
        <input
          type="checkbox"
          checked={isOn.value ?? false}
          disabled={isBusy.value || (isOn.value === undefined && !error.value)}
          onChange={event => void run(event.currentTarget.checked ? subscribe : unsubscribe)}
        />
        Messages in this browser
      </label>
      <p class="error" role="alert">
        {error.value}
      </p>
    </>
  )
}

/**
 * Returns whether the signed-in user receives messages here. The browser may be
 * subscribed for another user.
 */
async function isSubscribed(): Promise<boolean> {
  if (!(await findSubscription())) return false
  const stored = await callOperation<StoredSubscription[]>('/user/push/list')
  return stored.some(
    ({ push_subscription_id }) => push_subscription_id === localStorage.getItem(SUBSCRIPTION_KEY),
  )
}

async function findSubscription(): Promise<PushSubscription | null> {
  const registration = await navigator.serviceWorker.getRegistration(WORKER_PATH)
  return registration ? registration.pushManager.getSubscription() : null
}

async function subscribe(): Promise<boolean> {
  if ((await Notification.requestPermission()) !== 'granted') {
    throw new Error('the browser does not permit messages: allow them for this page')
  }
  const { public_key: publicKey } = await callOperation<{ public_key: string }>('/user/push/key')
  await navigator.serviceWorker.register(WORKER_PATH)
  const registration = await navigator.serviceWorker.ready
  const options = { userVisibleOnly: true, applicationServerKey: publicKey }
  const { endpoint, keys = {} } = (await registration.pushManager.subscribe(options)).toJSON()
  const { p256dh, auth } = keys
  const { push_subscription_id: pushSubscriptionId } = await callOperation<StoredSubscription>(
    '/user/push/subscribe',
    { endpoint, p256dh, auth, label: navigator.userAgent.slice(0, 100) },
  )
  localStorage.setItem(SUBSCRIPTION_KEY, pushSubscriptionId)
  return true
}

async function unsubscribe(): Promise<boolean> {
  const pushSubscriptionId = localStorage.getItem(SUBSCRIPTION_KEY)
  await (await findSubscription())?.unsubscribe()
  if (pushSubscriptionId) {
    localStorage.removeItem(SUBSCRIPTION_KEY)
    await callOperation('/user/push/unsubscribe', { push_subscription_id: pushSubscriptionId })
  }
  return false
}
