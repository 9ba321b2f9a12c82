// Passkeys: a form with data-passkey asks the server for options, the device for an answer, and sends that answer.
"use strict";

const toBytes = (text) =>
  Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (sign) => sign.charCodeAt(0));

const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

const readable = (options) => {
  options.challenge = toBytes(options.challenge);
  if (options.user) options.user.id = toBytes(options.user.id);
  for (const list of [options.excludeCredentials, options.allowCredentials]) {
    for (const each of list || []) each.id = toBytes(each.id);
  }
  return options;
};

const told = (credential) => {
  const response = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (credential.response[name]) response[name] = toText(credential.response[name]);
  }
  return JSON.stringify({
    id: credential.id, rawId: toText(credential.rawId), type: credential.type, response,
    clientExtensionResults: {}, authenticatorAttachment: credential.authenticatorAttachment || null,
  });
};

const answer = async (form) => {
  const asked = await fetch(form.dataset.options, {
    method: "POST", body: new URLSearchParams({ csrf: form.elements.csrf.value }),
  });
  if (!asked.ok) throw new Error(String(asked.status));
  const publicKey = readable(await asked.json());
  const make = form.dataset.passkey === "create";
  const credential = await (make ? navigator.credentials.create({ publicKey }) : navigator.credentials.get({ publicKey }));
  form.elements.credential.value = told(credential);
};

if (window.PublicKeyCredential) {
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.closest("[data-needs-passkeys]").hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const said = form.querySelector("[role=status]");
      const button = form.querySelector("button");
      button.disabled = true;
      said.textContent = said.dataset.follow;
      try {
        await answer(form);
        form.submit();
      } catch (error) {
        said.textContent = said.dataset.failed;
        button.disabled = false;
      }
    });
  }
}
