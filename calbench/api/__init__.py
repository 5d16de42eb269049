"""The functions of the public interface; :mod:`calbench` names them."""
