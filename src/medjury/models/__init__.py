"""Models: the `ChatModel` protocol, one file per endpoint kind, and the one gate every call passes."""

from medjury.models._chat import ChatModel, Finish, Message, ModelError, Reply, Request, Role

__all__ = ["ChatModel", "Finish", "Message", "ModelError", "Reply", "Request", "Role"]
